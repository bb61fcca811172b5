// The dashboard's files, as bytes of the binary.
//
// `#embed` is C23 and an extension before; Swift 6.2's compiler of C has it in every mode. The build tracks the files that
// are named here. A test sees that none is left out.

#include "CDashboard.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char api_js[] = {
#embed "../Assets/api.js"
};
static const unsigned char app_js[] = {
#embed "../Assets/app.js"
};
static const unsigned char application_card_js[] = {
#embed "../Assets/application-card.js"
};
static const unsigned char application_form_js[] = {
#embed "../Assets/application-form.js"
};
static const unsigned char authorisations_js[] = {
#embed "../Assets/authorisations.js"
};
static const unsigned char base_css[] = {
#embed "../Assets/base.css"
};
static const unsigned char charts_js[] = {
#embed "../Assets/charts.js"
};
static const unsigned char dialog_js[] = {
#embed "../Assets/dialog.js"
};
static const unsigned char dom_js[] = {
#embed "../Assets/dom.js"
};
static const unsigned char event_detail_js[] = {
#embed "../Assets/event-detail.js"
};
static const unsigned char event_row_js[] = {
#embed "../Assets/event-row.js"
};
static const unsigned char feed_js[] = {
#embed "../Assets/feed.js"
};
static const unsigned char files_js[] = {
#embed "../Assets/files.js"
};
static const unsigned char first_run_js[] = {
#embed "../Assets/first-run.js"
};
static const unsigned char floor_drawing_js[] = {
#embed "../Assets/floor-drawing.js"
};
static const unsigned char floor_frame_js[] = {
#embed "../Assets/floor-frame.js"
};
static const unsigned char floor_labels_js[] = {
#embed "../Assets/floor-labels.js"
};
static const unsigned char floor_list_js[] = {
#embed "../Assets/floor-list.js"
};
static const unsigned char floor_marks_js[] = {
#embed "../Assets/floor-marks.js"
};
static const unsigned char floor_overlays_js[] = {
#embed "../Assets/floor-overlays.js"
};
static const unsigned char floor_shapes_js[] = {
#embed "../Assets/floor-shapes.js"
};
static const unsigned char floor_source_js[] = {
#embed "../Assets/floor-source.js"
};
static const unsigned char floor_switch_js[] = {
#embed "../Assets/floor-switch.js"
};
static const unsigned char floor_view_js[] = {
#embed "../Assets/floor-view.js"
};
static const unsigned char form_parts_js[] = {
#embed "../Assets/form-parts.js"
};
static const unsigned char format_js[] = {
#embed "../Assets/format.js"
};
static const unsigned char gateway_detail_js[] = {
#embed "../Assets/gateway-detail.js"
};
static const unsigned char gateways_js[] = {
#embed "../Assets/gateways.js"
};
static const unsigned char history_detail_js[] = {
#embed "../Assets/history-detail.js"
};
static const unsigned char history_js[] = {
#embed "../Assets/history.js"
};
static const unsigned char icon_svg[] = {
#embed "../Assets/icon.svg"
};
static const unsigned char identity_js[] = {
#embed "../Assets/identity.js"
};
static const unsigned char index_html[] = {
#embed "../Assets/index.html"
};
static const unsigned char layout_css[] = {
#embed "../Assets/layout.css"
};
static const unsigned char level_picture_js[] = {
#embed "../Assets/level-picture.js"
};
static const unsigned char names_js[] = {
#embed "../Assets/names.js"
};
static const unsigned char notification_form_js[] = {
#embed "../Assets/notification-form.js"
};
static const unsigned char notifications_js[] = {
#embed "../Assets/notifications.js"
};
static const unsigned char page_access_js[] = {
#embed "../Assets/page-access.js"
};
static const unsigned char page_compare_js[] = {
#embed "../Assets/page-compare.js"
};
static const unsigned char page_events_js[] = {
#embed "../Assets/page-events.js"
};
static const unsigned char page_gateways_js[] = {
#embed "../Assets/page-gateways.js"
};
static const unsigned char page_overview_js[] = {
#embed "../Assets/page-overview.js"
};
static const unsigned char page_regions_js[] = {
#embed "../Assets/page-regions.js"
};
static const unsigned char page_rooms_js[] = {
#embed "../Assets/page-rooms.js"
};
static const unsigned char page_status_js[] = {
#embed "../Assets/page-status.js"
};
static const unsigned char page_things_js[] = {
#embed "../Assets/page-things.js"
};
static const unsigned char page_notifications_js[] = {
#embed "../Assets/page-notifications.js"
};
static const unsigned char page_webhooks_js[] = {
#embed "../Assets/page-webhooks.js"
};
static const unsigned char parts_css[] = {
#embed "../Assets/parts.css"
};
static const unsigned char parts_js[] = {
#embed "../Assets/parts.js"
};
static const unsigned char pictures_css[] = {
#embed "../Assets/pictures.css"
};
static const unsigned char pictures_html[] = {
#embed "../Assets/pictures.html"
};
static const unsigned char pictures_js[] = {
#embed "../Assets/pictures.js"
};
static const unsigned char plan_drawing_js[] = {
#embed "../Assets/plan-drawing.js"
};
static const unsigned char plan_layout_js[] = {
#embed "../Assets/plan-layout.js"
};
static const unsigned char plan_marks_js[] = {
#embed "../Assets/plan-marks.js"
};
static const unsigned char plan_scene_js[] = {
#embed "../Assets/plan-scene.js"
};
static const unsigned char plan_sources_js[] = {
#embed "../Assets/plan-sources.js"
};
static const unsigned char plan_view_js[] = {
#embed "../Assets/plan-view.js"
};
static const unsigned char poll_js[] = {
#embed "../Assets/poll.js"
};
static const unsigned char push_worker_js[] = {
#embed "../Assets/push-worker.js"
};
static const unsigned char push_js[] = {
#embed "../Assets/push.js"
};
static const unsigned char recording_card_js[] = {
#embed "../Assets/recording-card.js"
};
static const unsigned char region_block_js[] = {
#embed "../Assets/region-block.js"
};
static const unsigned char region_form_js[] = {
#embed "../Assets/region-form.js"
};
static const unsigned char region_identity_js[] = {
#embed "../Assets/region-identity.js"
};
static const unsigned char region_rules_js[] = {
#embed "../Assets/region-rules.js"
};
static const unsigned char room_form_js[] = {
#embed "../Assets/room-form.js"
};
static const unsigned char rooms_js[] = {
#embed "../Assets/rooms.js"
};
static const unsigned char secret_js[] = {
#embed "../Assets/secret.js"
};
static const unsigned char sharing_js[] = {
#embed "../Assets/sharing.js"
};
static const unsigned char site_changes_js[] = {
#embed "../Assets/site-changes.js"
};
static const unsigned char sse_js[] = {
#embed "../Assets/sse.js"
};
static const unsigned char stream_js[] = {
#embed "../Assets/stream.js"
};
static const unsigned char suggestions_js[] = {
#embed "../Assets/suggestions.js"
};
static const unsigned char thing_detail_js[] = {
#embed "../Assets/thing-detail.js"
};
static const unsigned char things_js[] = {
#embed "../Assets/things.js"
};
static const unsigned char time_travel_js[] = {
#embed "../Assets/time-travel.js"
};
static const unsigned char timeline_js[] = {
#embed "../Assets/timeline.js"
};
static const unsigned char tokens_js[] = {
#embed "../Assets/tokens.js"
};
static const unsigned char verdict_js[] = {
#embed "../Assets/verdict.js"
};
static const unsigned char visitor_labels_js[] = {
#embed "../Assets/visitor-labels.js"
};
static const unsigned char visitor_map_js[] = {
#embed "../Assets/visitor-map.js"
};
static const unsigned char visitor_words_js[] = {
#embed "../Assets/visitor-words.js"
};
static const unsigned char visitor_worker_js[] = {
#embed "../Assets/visitor-worker.js"
};
static const unsigned char visitor_css[] = {
#embed "../Assets/visitor.css"
};
static const unsigned char visitor_html[] = {
#embed "../Assets/visitor.html"
};
static const unsigned char visitor_js[] = {
#embed "../Assets/visitor.js"
};
static const unsigned char watches_js[] = {
#embed "../Assets/watches.js"
};
static const unsigned char webhook_card_js[] = {
#embed "../Assets/webhook-card.js"
};
static const unsigned char webhook_form_js[] = {
#embed "../Assets/webhook-form.js"
};
static const unsigned char words_js[] = {
#embed "../Assets/words.js"
};

static const cdashboard_file_t files[] = {
  {"api.js", api_js, sizeof api_js},
  {"app.js", app_js, sizeof app_js},
  {"application-card.js", application_card_js, sizeof application_card_js},
  {"application-form.js", application_form_js, sizeof application_form_js},
  {"authorisations.js", authorisations_js, sizeof authorisations_js},
  {"base.css", base_css, sizeof base_css},
  {"charts.js", charts_js, sizeof charts_js},
  {"dialog.js", dialog_js, sizeof dialog_js},
  {"dom.js", dom_js, sizeof dom_js},
  {"event-detail.js", event_detail_js, sizeof event_detail_js},
  {"event-row.js", event_row_js, sizeof event_row_js},
  {"feed.js", feed_js, sizeof feed_js},
  {"files.js", files_js, sizeof files_js},
  {"first-run.js", first_run_js, sizeof first_run_js},
  {"floor-drawing.js", floor_drawing_js, sizeof floor_drawing_js},
  {"floor-frame.js", floor_frame_js, sizeof floor_frame_js},
  {"floor-labels.js", floor_labels_js, sizeof floor_labels_js},
  {"floor-list.js", floor_list_js, sizeof floor_list_js},
  {"floor-marks.js", floor_marks_js, sizeof floor_marks_js},
  {"floor-overlays.js", floor_overlays_js, sizeof floor_overlays_js},
  {"floor-shapes.js", floor_shapes_js, sizeof floor_shapes_js},
  {"floor-source.js", floor_source_js, sizeof floor_source_js},
  {"floor-switch.js", floor_switch_js, sizeof floor_switch_js},
  {"floor-view.js", floor_view_js, sizeof floor_view_js},
  {"form-parts.js", form_parts_js, sizeof form_parts_js},
  {"format.js", format_js, sizeof format_js},
  {"gateway-detail.js", gateway_detail_js, sizeof gateway_detail_js},
  {"gateways.js", gateways_js, sizeof gateways_js},
  {"history-detail.js", history_detail_js, sizeof history_detail_js},
  {"history.js", history_js, sizeof history_js},
  {"icon.svg", icon_svg, sizeof icon_svg},
  {"identity.js", identity_js, sizeof identity_js},
  {"index.html", index_html, sizeof index_html},
  {"layout.css", layout_css, sizeof layout_css},
  {"level-picture.js", level_picture_js, sizeof level_picture_js},
  {"names.js", names_js, sizeof names_js},
  {"notification-form.js", notification_form_js, sizeof notification_form_js},
  {"notifications.js", notifications_js, sizeof notifications_js},
  {"page-access.js", page_access_js, sizeof page_access_js},
  {"page-compare.js", page_compare_js, sizeof page_compare_js},
  {"page-events.js", page_events_js, sizeof page_events_js},
  {"page-gateways.js", page_gateways_js, sizeof page_gateways_js},
  {"page-overview.js", page_overview_js, sizeof page_overview_js},
  {"page-regions.js", page_regions_js, sizeof page_regions_js},
  {"page-rooms.js", page_rooms_js, sizeof page_rooms_js},
  {"page-status.js", page_status_js, sizeof page_status_js},
  {"page-things.js", page_things_js, sizeof page_things_js},
  {"page-notifications.js", page_notifications_js, sizeof page_notifications_js},
  {"page-webhooks.js", page_webhooks_js, sizeof page_webhooks_js},
  {"parts.css", parts_css, sizeof parts_css},
  {"parts.js", parts_js, sizeof parts_js},
  {"pictures.css", pictures_css, sizeof pictures_css},
  {"pictures.html", pictures_html, sizeof pictures_html},
  {"pictures.js", pictures_js, sizeof pictures_js},
  {"plan-drawing.js", plan_drawing_js, sizeof plan_drawing_js},
  {"plan-layout.js", plan_layout_js, sizeof plan_layout_js},
  {"plan-marks.js", plan_marks_js, sizeof plan_marks_js},
  {"plan-scene.js", plan_scene_js, sizeof plan_scene_js},
  {"plan-sources.js", plan_sources_js, sizeof plan_sources_js},
  {"plan-view.js", plan_view_js, sizeof plan_view_js},
  {"poll.js", poll_js, sizeof poll_js},
  {"push-worker.js", push_worker_js, sizeof push_worker_js},
  {"push.js", push_js, sizeof push_js},
  {"recording-card.js", recording_card_js, sizeof recording_card_js},
  {"region-block.js", region_block_js, sizeof region_block_js},
  {"region-form.js", region_form_js, sizeof region_form_js},
  {"region-identity.js", region_identity_js, sizeof region_identity_js},
  {"region-rules.js", region_rules_js, sizeof region_rules_js},
  {"room-form.js", room_form_js, sizeof room_form_js},
  {"rooms.js", rooms_js, sizeof rooms_js},
  {"secret.js", secret_js, sizeof secret_js},
  {"sharing.js", sharing_js, sizeof sharing_js},
  {"site-changes.js", site_changes_js, sizeof site_changes_js},
  {"sse.js", sse_js, sizeof sse_js},
  {"stream.js", stream_js, sizeof stream_js},
  {"suggestions.js", suggestions_js, sizeof suggestions_js},
  {"thing-detail.js", thing_detail_js, sizeof thing_detail_js},
  {"things.js", things_js, sizeof things_js},
  {"time-travel.js", time_travel_js, sizeof time_travel_js},
  {"timeline.js", timeline_js, sizeof timeline_js},
  {"tokens.js", tokens_js, sizeof tokens_js},
  {"verdict.js", verdict_js, sizeof verdict_js},
  {"visitor-labels.js", visitor_labels_js, sizeof visitor_labels_js},
  {"visitor-map.js", visitor_map_js, sizeof visitor_map_js},
  {"visitor-words.js", visitor_words_js, sizeof visitor_words_js},
  {"visitor-worker.js", visitor_worker_js, sizeof visitor_worker_js},
  {"visitor.css", visitor_css, sizeof visitor_css},
  {"visitor.html", visitor_html, sizeof visitor_html},
  {"visitor.js", visitor_js, sizeof visitor_js},
  {"watches.js", watches_js, sizeof watches_js},
  {"webhook-card.js", webhook_card_js, sizeof webhook_card_js},
  {"webhook-form.js", webhook_form_js, sizeof webhook_form_js},
  {"words.js", words_js, sizeof words_js},
};

size_t cdashboard_file_count(void) { return sizeof files / sizeof files[0]; }

cdashboard_file_t cdashboard_file(size_t index) { return files[index]; }

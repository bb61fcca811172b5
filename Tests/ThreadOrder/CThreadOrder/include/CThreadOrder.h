#pragma once

/// Says that the current task goes on behind whatever was released in its name; nothing under another sanitizer.
void swift_order_go_on(void);

// The description of the HTTP interface, as bytes of the binary.
//
// `#embed` is C23 and an extension before; Swift 6.2's compiler of C has it in every mode. The build tracks the file that is
// named here.

#include "COpenAPI.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char openapi_json[] = {
#embed "../OpenAPI/openapi.json"
};

copenapi_file copenapi_document(void) {
  copenapi_file file = {openapi_json, sizeof openapi_json};
  return file;
}

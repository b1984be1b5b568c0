#include "api/rights.h"

namespace holdfast::api {

bool may_send(Role role, wire::Request::Reader request) {
  switch (request.which()) {
    case wire::Request::HELLO:
    case wire::Request::BATCH:
    case wire::Request::SUBSCRIPTION:
    case wire::Request::QUERIES:
      return true;
    case wire::Request::QUERY:
      return role != Role::app || !request.getQuery().isAccess();
    case wire::Request::PROOF:
      return role != Role::app;
    case wire::Request::ADMIN:
    case wire::Request::IMPORT_BEGIN:
    case wire::Request::IMPORT_LINES:
    case wire::Request::IMPORT_END:
      break;
  }
  return role == Role::operations;
}

}  // namespace holdfast::api

// The sending of events.
export { type Postman, startPostman } from "./dispatcher.ts";
export { wakingTransactor } from "./wake.ts";

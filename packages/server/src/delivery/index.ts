// The sending of events.
export { type Postman, startPostman } from "./postman.ts";
export { wakingTransactor } from "./waking.ts";

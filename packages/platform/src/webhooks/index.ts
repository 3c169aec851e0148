// Event delivery.
export { createSinkTests } from "./sink-tests.ts";
export { startDispatcher } from "./dispatcher.ts";

import { task } from "../reading/task.ts";

// What is read of documents of upstreams, of whatever ecosystem.

/** Reads a document that has arrived. */
export const readArrived = task("document", async () => (await import("./read-document.ts")).readDocument);

/** Divides a document that is kept in one piece, as it was before large ones were divided. */
export const divideKept = task("divide", async () => (await import("./read-document.ts")).divideKept);

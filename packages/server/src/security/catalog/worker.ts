// The thread that reads the layers of images: it blocks for long, and may have to be ended.
import { constants, setPriority } from "node:os";

// Requests go first. On Linux this is the priority of the calling thread; elsewhere it would be that of the process.
// It is set before the rest is loaded, which takes longer than reading a small image.
if (process.platform === "linux")
  try {
    setPriority(0, constants.priority.PRIORITY_LOW);
  } catch {
    // A sandbox may forbid it: then images are read at the priority of requests.
  }
await (await import("./read-image.ts")).answerRequests();

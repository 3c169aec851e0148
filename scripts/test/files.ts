// Runs test files in this process, one after the other: each is a test, and its tests are parts of that. So the hooks
// on the top level of a file are for its tests alone, and have run before the next file is loaded.
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { USES_DATABASE } from "./plan.ts";

const files = process.argv.slice(2);
// Each file starts servers; what is about their threads is in a process of its own.
if (files.some((file) => USES_DATABASE.test(file))) {
  const { shareWriter } = await import("../../packages/server/test/support/shared-writer.ts");
  shareWriter();
}

for (const file of files)
  test(file, async (t) => {
    const { promise: loaded, resolve } = Promise.withResolvers<void>();
    // Tests would begin before what stands below them in their file is there.
    t.beforeEach(() => loaded);
    try {
      await import(pathToFileURL(file).href);
    } finally {
      resolve();
    }
  });

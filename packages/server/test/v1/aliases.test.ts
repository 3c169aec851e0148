import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { globSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { sized } from "../support/extent.ts";

const FOLDER = fileURLToPath(new URL(".", import.meta.url));
const TIMEOUT_MS = 600_000;
// All of them in `npm run test:all`; in `npm test` the one that calls every method. An alias does not depend on the
// engine: one of them is enough for all files.
const IS_POSTGRES = (process.env["MOORAGE_TEST_POSTGRES_URL"] ?? "") !== "";
const FILES = sized(0, 1) === 1 && !IS_POSTGRES ? "*.test.ts" : "methods.test.ts";

test("clients compiled from other packages pass the suite of v1 through an alias", async () => {
  const files = globSync(FILES, { cwd: FOLDER }).filter((name) => name !== "aliased.test.ts");
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("NODE_TEST")));
  const child = spawn(process.execPath, ["--test", "--test-isolation=none", "--test-reporter=spec", ...files], {
    cwd: FOLDER,
    env: { ...env, MOORAGE_TEST_LONG: "", MOORAGE_TEST_SEQUENCES: "10", MOORAGE_TEST_GRPC_ALIAS: "example.platform" },
    stdio: ["ignore", "pipe", "inherit"],
    timeout: TIMEOUT_MS,
    killSignal: "SIGKILL",
  });
  const output = text(child.stdout);
  const [status] = (await once(child, "exit")) as [number | null];
  assert.equal(status, 0, await output);
  const passed = Number(/pass (\d+)/.exec(await output)?.[1]);
  assert.ok(passed > 10, `${passed} tests`);
});

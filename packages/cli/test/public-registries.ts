// Registries on loopback in the place of the public ones, for documents: what they have of a package that the document
// names, and a version of yesterday, which a cooldown must hide.
import type { TestContext } from "node:test";
import { startNpmRegistry } from "../../server/test/support/npm-registry.ts";
import { wheelOf } from "../../server/test/support/pypi.ts";
import { startPythonIndex } from "../../server/test/support/python-index.ts";

const DAY_MS = 86_400_000;
const LEFT_PAD = "module.exports = (text, length, fill) => String(text).padStart(length, fill);\n";

const yesterday = (): string => new Date(Date.now() - DAY_MS).toISOString();

/** An npm registry with left-pad. Answers its URL. */
export async function npmWithLeftPad(t: TestContext): Promise<string> {
  const registry = await startNpmRegistry(t);
  for (const [version, time] of [
    ["1.2.0", "2017-11-15T12:00:00.000Z"],
    ["1.3.0", "2018-04-09T01:09:43.796Z"],
    ["1.4.0", yesterday()],
  ] as const)
    registry.publish("left-pad", version, { time, files: { "index.js": LEFT_PAD } });
  return registry.url;
}

/** A Python index with six. Answers the URL of its simple API. */
export async function indexWithSix(t: TestContext): Promise<string> {
  const index = await startPythonIndex(t);
  for (const [version, uploadTime] of [
    ["1.17.0", "2024-12-04T17:35:26.475Z"],
    ["1.18.0", yesterday()],
  ] as const) {
    const { filename, bytes, metadata } = wheelOf({ name: "six", version });
    index.publish("six", { filename, bytes, metadata, uploadTime });
  }
  return index.url;
}

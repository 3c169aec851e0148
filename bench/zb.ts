import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { accepts } from "./bare.ts";
import { findProgram } from "./peers.ts";
import { freePort, LOAD_CORE, start, stop, until } from "./processes.ts";
import type { Registry } from "./registries.ts";
import { say } from "./say.ts";

/** A test of zb, and its result for a registry: images a second, and the median of the time. */
interface ZbTest {
  name: string;
  perSecond: number;
  failed: number;
  p50: string;
}
/**
 * `failure`: the run did not finish; the results of earlier tests are included. `aborted`: zb ended itself, with the
 * last line that it printed: it does so at some answers, such as 404 for the tags of a repo that it has not pushed to.
 */
export interface ZbRun {
  registry: string;
  tests: ZbTest[];
  failure?: string;
  aborted?: string;
}

const TIMEOUT_MS = 90_000;
const START_TIMEOUT_MS = 10_000;
const CONCURRENCY = 2;

/**
 * Runs zot's own benchmark against a registry. Undefined when zb is not installed. Moorage is reached through a relay
 * that adds its token, on the load generator's core.
 */
export async function runZb(
  registry: Registry,
  organization: string,
  scratch: string,
  requests: number,
): Promise<ZbRun | undefined> {
  const program = findProgram("zb");
  if (program === undefined) return undefined;
  say(`zb against ${registry.name}`);
  const folder = join(scratch, `zb-${registry.name}`);
  mkdirSync(folder);
  const relay = registry.authorization === "" ? undefined : await startRelay(registry);
  try {
    const url = `http://127.0.0.1:${relay?.port ?? registry.port}`;
    const args = ["-c", String(CONCURRENCY), "-n", String(requests), "-d", folder, "-r", `${organization}/zb`, url];
    // It says on standard error why it aborts.
    const child = start(LOAD_CORE, "sh", ["-c", 'exec "$@" 2>&1', "sh", program, ...args], { output: "pipe" });
    const timer = setTimeout(() => child.kill("SIGKILL"), TIMEOUT_MS);
    let text = "";
    child.stdout?.setEncoding("utf8").on("data", (chunk: string) => {
      text += chunk;
    });
    const [code] = (await once(child, "close")) as [number | null];
    clearTimeout(timer);
    const tests = readTests(text);
    // The exit status is 1 when a request of any test failed, of which each test reports how many, and when zb aborts.
    const ended = code === 0 || code === 1;
    const aborted = code === 1 && tests.every(({ failed }) => failed === 0);
    return {
      registry: registry.name,
      tests,
      ...(!ended && { failure: `zb did not end in ${TIMEOUT_MS / 1000} s` }),
      ...(aborted && { aborted: lastLine(text) }),
    };
  } finally {
    if (relay) await stop(relay.process);
  }
}

function lastLine(text: string): string {
  return (text.trim().split("\n").at(-1) ?? "").slice(0, 300);
}

async function startRelay(registry: Registry): Promise<{ port: number; process: ReturnType<typeof start> }> {
  const port = await freePort();
  const authorization = registry.authorization.slice("authorization: ".length).trim();
  const child = start(LOAD_CORE, process.execPath, [
    fileURLToPath(new URL("./relay.ts", import.meta.url)),
    String(port),
    String(registry.port),
    authorization,
  ]);
  try {
    await until(() => accepts(port), child, START_TIMEOUT_MS);
  } catch (error) {
    await stop(child);
    throw error;
  }
  return { port, process: child };
}

/** Parses the output of zb: a block of lines `name: value` for each test. */
function readTests(text: string): ZbTest[] {
  return text
    .split(/^Test name:/m)
    .slice(1)
    .map((block) => {
      const value = (name: string): string => new RegExp(`^${name}:[ \\t]*(.*)$`, "m").exec(block)?.[1]?.trim() ?? "";
      const [name = ""] = block.split("\n", 1);
      return {
        name: name.trim(),
        perSecond: Number(value("Requests per second")),
        failed: Number(value("Failed requests")),
        p50: value("p50"),
      };
    });
}

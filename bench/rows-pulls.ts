import { once } from "node:events";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { median } from "./median.ts";
import { findProgram } from "./peers.ts";
import { LOAD_CORE, start } from "./processes.ts";
import { pushTags } from "./push.ts";
import type { Registry } from "./registries.ts";
import { rested } from "./rows-pull-events.ts";
import type { Bench, Round, Row, Sample, Section } from "./rows.ts";
import { say } from "./say.ts";

const LAYERS = 10;
const LAYER_BYTES = 4096;
const MOST_PULLS = 16;
const GOAL = 1;
const TIMEOUT_MS = 30_000;

/**
 * Pulls by a real client, a process each, of an image that was not pulled before into a new folder. Undefined when
 * skopeo is not installed.
 */
export function pullSection(bench: Bench): Section | undefined {
  const { engine, peers, sizes, largest } = bench;
  const { moorage } = largest;
  const skopeo = findProgram("skopeo");
  if (skopeo === undefined) {
    say("no skopeo in build/tools or on PATH: pulls by a client are left out (Debian: apt-get install skopeo)");
    return undefined;
  }
  const repository = `${moorage.organization.name}/pulled-by-client`;
  const registries = [...peers, moorage];
  const tagOf = (round: number, number: number): string => `r${round}-${number}`;
  const titleOf = ({ name }: Registry): string =>
    `pull by skopeo, ${LAYERS} layers of 4 KiB, another image each time, ${name === moorage.name ? `${name} on ${engine}` : name}`;
  const pull = async (registry: Registry, tag: string): Promise<number> => {
    const folder = join(bench.scratch, `pull-${registry.name}-${tag}`);
    // A pull begins with the password, as that of a person or a pipeline does.
    const password = moorage.platform.authorization.trim().split(" ").at(-1);
    const credentials = registry === moorage ? ["--src-creds", `_token:${password}`] : [];
    const [source, target] = [`docker://127.0.0.1:${registry.port}/${repository}:${tag}`, `dir:${folder}`];
    const args = ["copy", "--quiet", "--insecure-policy", "--src-tls-verify=false", ...credentials, source, target];
    const began = performance.now();
    const child = start(LOAD_CORE, skopeo, args);
    const timer = setTimeout(() => child.kill("SIGKILL"), TIMEOUT_MS);
    const [code] = (await once(child, "exit")) as [number | null];
    const tookMs = performance.now() - began;
    clearTimeout(timer);
    rmSync(folder, { recursive: true, force: true });
    if (code !== 0) throw new Error(`skopeo ended with ${code ?? "a signal"}`);
    return tookMs;
  };
  /** All registries by turns. */
  const turns = async ({ round, durationMs }: Round): Promise<Map<Registry, Sample>> => {
    const taken = new Map(registries.map((registry) => [registry, { times: [] as number[], usedUs: 0 }]));
    const endMs = performance.now() + durationMs * registries.length;
    for (let number = 0; number < MOST_PULLS && (number === 0 || performance.now() < endMs); number += 1) {
      for (const [registry, of] of taken) {
        const before = registry.cpuUs() ?? Number.NaN;
        of.times.push(await pull(registry, tagOf(round, number)));
        of.usedUs += (registry.cpuUs() ?? Number.NaN) - before;
      }
    }
    return new Map(
      [...taken].map(([registry, { times, usedUs }]) => [
        registry,
        { rate: 1_000 / median(times), ...(!Number.isNaN(usedUs) && { cpuUs: usedUs / times.length }) },
      ]),
    );
  };
  const prepare = async (): Promise<void> => {
    const load = { client: "containerd" as const, layers: LAYERS, layerBytes: LAYER_BYTES };
    for (const registry of registries)
      for (let round = 0; round <= sizes.rounds; round += 1) {
        const tags = Array.from({ length: MOST_PULLS }, (_, number) => tagOf(round, number));
        await pushTags({ ...load, port: registry.port, authorization: registry.authorization }, repository, tags);
      }
  };
  let latest: { round: number; samples: Promise<Map<Registry, Sample>> } | undefined;
  const rowOf = (registry: Registry): Row => ({
    title: titleOf(registry),
    unit: "/s",
    // The first row prepares and measures for all.
    ...(registry === registries[0] && { prepare }),
    measure: rested(moorage, async (round) => {
      if (latest?.round !== round.round) latest = { round: round.round, samples: turns(round) };
      return (await latest.samples).get(registry) ?? { rate: 0, failure: "not measured" };
    }),
    ...(registry === moorage && {
      against: peers.map((peer) => ({
        title: titleOf(peer),
        ...(peer.name === "docker-registry" && { goal: GOAL }),
      })),
    }),
  });
  return { title: `pulls by a client, ${engine}`, rows: registries.map(rowOf) };
}

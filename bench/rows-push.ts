import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Load, type LoadResult, PLACE } from "./load.ts";
import type { Moorage } from "./moorage.ts";
import type { Client } from "./push.ts";
import { MANIFEST, pushImage, type Registry } from "./registries.ts";
import { rested } from "./rows-pull-events.ts";
import { type Against, type Bench, get, type Row, type Sample, sampled, sampleOf, type Section } from "./rows.ts";
import { MANIFESTS, tagName, taggedName } from "./seed-sql.ts";

const LAYERS = 10;
const LAYER_BYTES = 4096;
const PUSHERS = 16;
// What a job of a pipeline pushes: layers that changed, of a few kilobytes, and a configuration.
const JOB_LAYERS = 3;
const JOB_LAYER_BYTES = 20 * 1024;
const PUSH_GOAL = 8;
const ZOT_GOAL = 2;
const MOST_DISTURBANCE = 1.5;
const CATALOG_GOAL = 0.95;
const CLIENTS: Client[] = ["containerd", "Docker Engine"];

/** Pushes of new images, and what one that pushes all the time does to those who read. */
export async function pushSection(bench: Bench): Promise<Section> {
  const { engine, largest, peers } = bench;
  return {
    title: `pushes, ${engine}`,
    rows: [
      ...CLIENTS.flatMap((client) => [...peers, largest.moorage].map((registry) => pushRow(bench, registry, client))),
      ...[...peers, largest.moorage].map((registry) => jobRow(bench, registry)),
      ...(await disturbedRows(bench)),
    ],
  };
}

function pushRow(bench: Bench, registry: Registry, client: Client): Row {
  const { engine, loader, peers, largest } = bench;
  const { moorage } = largest;
  const titleFor = (name: string): string =>
    `push, ${LAYERS} layers of 4 KiB, ${PUSHERS} clients like ${client}, ${name}`;
  return {
    title: titleFor(registry === moorage ? `${registry.name} on ${engine}` : registry.name),
    unit: "/s",
    measure: rested(registry, ({ round, durationMs }) =>
      sampled(registry, () =>
        loader.push({
          ...pushOf(registry, moorage.organization.name, client, PUSHERS),
          name: `${client.toLowerCase().replaceAll(" ", "-")}-${engine.toLowerCase()}-${round}`,
          durationMs,
        }),
      ),
    ),
    ...(registry === moorage && {
      against: peers.map(({ name }) => ({
        title: titleFor(name),
        ...(engine === "SQLite" && goalAgainst(name)),
      })),
    }),
  };
}

function goalAgainst(name: string): Omit<Against, "title"> {
  if (name === "docker-registry") return { goal: PUSH_GOAL };
  // The disk is shared: what the others write slows down whoever pushes next.
  return name === "zot" ? { goal: ZOT_GOAL, byCpu: true } : {};
}

/** One client, so that no commit is shared with other clients. */
function jobRow({ engine, loader, peers, largest: { moorage } }: Bench, registry: Registry): Row {
  const titleFor = (name: string): string => `push of one image, ${JOB_LAYERS} layers of 20 KiB, one client, ${name}`;
  return {
    title: titleFor(registry === moorage ? `${registry.name} on ${engine}` : registry.name),
    unit: "/s",
    measure: rested(registry, ({ round, durationMs }) =>
      sampled(registry, () =>
        loader.push({
          ...pushOf(registry, moorage.organization.name, "containerd", 1),
          layers: JOB_LAYERS,
          layerBytes: JOB_LAYER_BYTES,
          name: `job-${engine.toLowerCase()}-${round}`,
          durationMs,
        }),
      ),
    ),
    ...(registry === moorage && {
      against: peers.map(({ name }) => ({
        title: titleFor(name),
        ...(engine === "SQLite" && name === "zot" && { goal: ZOT_GOAL, byCpu: true }),
      })),
    }),
  };
}

/** What reading the images costs those who push them: by turns to a server that does it, and to one that does not. */
export function pushesReadSection(bench: Bench): Section | undefined {
  const {
    unread,
    engine,
    loader,
    servers: [smallest],
  } = bench;
  if (unread === undefined || smallest === undefined) return undefined;
  const titleFor = (how: string): string =>
    `push, ${LAYERS} layers of 4 KiB, ${PUSHERS} clients like containerd, ${how} reading of images, ${engine}`;
  const row = (moorage: Moorage, how: string): Row => ({
    title: titleFor(how),
    unit: "/s",
    measure: rested(moorage, ({ round, durationMs }) =>
      sampled(moorage, () =>
        loader.push({
          ...pushOf(moorage, moorage.organization.name, "containerd", PUSHERS),
          name: `${how}-${engine.toLowerCase()}-${round}`,
          durationMs,
        }),
      ),
    ),
  });
  return {
    title: `pushes and the reading of images, ${engine}`,
    // What a push has left to be written to the disk slows down whoever pushes next.
    alternates: true,
    rows: [
      row(unread, "without"),
      { ...row(smallest.moorage, "with"), against: [{ title: titleFor("without"), goal: CATALOG_GOAL }] },
    ],
  };
}

/** What so many clients push, each into a repo of its own below a group. */
export function pushOf({ port, authorization }: Registry, organization: string, client: Client, pushers: number) {
  return {
    port,
    authorization,
    client,
    repositories: Array.from({ length: pushers }, (_, index) => `${organization}/pushed-${index}`),
    layers: LAYERS,
    layerBytes: LAYER_BYTES,
  };
}

/** The slowest of a hundred reads, without and with one client that pushes image after image. */
async function disturbedRows(bench: Bench): Promise<Row[]> {
  const {
    engine,
    loader,
    scratch,
    sizes: { connections, tags },
    largest: { moorage },
  } = bench;
  const { port, authorization, organization } = moorage;
  const fill = join(scratch, `disturbed-${engine}`);
  writeFileSync(fill, Array.from({ length: Math.min(MANIFESTS, tags) }, (_, index) => tagName(index)).join("\n"));
  const repository = `${organization.name}/read`;
  await pushImage(moorage, repository, "latest");
  const request = (path: string): string[][] => [[get(`/v2/${path}`, authorization, MANIFEST)]];
  const reads: [string, Omit<Load, "durationMs">][] = [
    ["the same", { port, connections, sequences: request(`${repository}/manifests/latest`) }],
    [
      "another each time",
      { port, connections, fill, sequences: request(`${organization.name}/${taggedName(tags)}/manifests/${PLACE}`) },
    ],
  ];
  return reads.flatMap(([what, readers]): Row[] => {
    const title = `${connections} readers' p99, manifest by tag, ${what}`;
    const alone = `${title}, alone, ${engine}`;
    let pushed: Sample | undefined;
    return [
      {
        title: alone,
        unit: "ms",
        measure: rested(moorage, async ({ durationMs }) => timed(await loader.http({ ...readers, durationMs }))),
      },
      {
        title: `${title}, beside a push, ${engine}`,
        unit: "ms",
        measure: rested(moorage, async ({ round, durationMs }) => {
          const push = {
            ...pushOf(moorage, organization.name, "containerd", 1),
            name: `beside-${what.replaceAll(" ", "-")}-${engine.toLowerCase()}-${round}`,
            durationMs,
          };
          const result = await loader.mixed({ readers: { ...readers, durationMs }, push });
          pushed = sampleOf(result.push);
          return timed(result.readers);
        }),
        against: [{ title: alone, ...(engine === "SQLite" && { most: MOST_DISTURBANCE }) }],
      },
      {
        title: `push beside ${connections} readers, ${what}, ${engine}`,
        unit: "/s",
        measure: async () => pushed ?? { rate: 0, failure: "nothing was pushed" },
      },
    ];
  });
}

/** The time in place of the rate. */
function timed(result: LoadResult): Sample {
  return { ...sampleOf(result), rate: result.p99Ms ?? 0 };
}

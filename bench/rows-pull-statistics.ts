import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { PLACE } from "./load.ts";
import { median } from "./median.ts";
import type { Moorage } from "./moorage.ts";
import { MANIFEST, pushImage, tagImage } from "./registries.ts";
import { rested } from "./rows-pull-events.ts";
import { type Bench, get, overHttp, type Round, type Row, type Sample, type Section } from "./rows.ts";

// A pull with statistics takes at most 1.05 of one without, by processor time.
const GOAL = 1 / 1.05;
// The two servers are asked in so many short turns of each round at least, so that what else the machine does concerns
// both.
const LEAST_TURNS = 24;
const TURN_MS = 250;
const MANIFESTS = 200;
// Each is asked for by so many different URLs, so that no answer is a cached one.
const URLS_OF_EACH = 200;

/** What one server is asked for. */
interface Asked {
  moorage: Moorage;
  measure: Row["measure"];
}

type Figure = "rate" | "cpuUs" | "loadShare";

/** The median of what the samples have; absent if none has it. */
function medianOf(samples: readonly Sample[], figure: Figure): number | undefined {
  const figures = samples.flatMap((sample) => sample[figure] ?? []);
  return figures.length === 0 ? undefined : median(figures);
}

/**
 * The median of each figure; the first failure. Held against the samples of another server, turn by turn, a figure is
 * the other's median times the median of the ratios: the two of a turn share what the machine did then.
 */
function middle(samples: readonly Sample[], others?: readonly Sample[]): Sample {
  const of = (figure: Figure): number | undefined => {
    const ratios = samples.flatMap((sample, at) => {
      const [own, other] = [sample[figure], others?.[at]?.[figure]];
      return own === undefined || other === undefined || other === 0 ? [] : [own / other];
    });
    const other = others && medianOf(others, figure);
    return ratios.length === 0 || other === undefined ? medianOf(samples, figure) : other * median(ratios);
  };
  const [cpuUs, loadShare] = [of("cpuUs"), medianOf(samples, "loadShare")];
  const failure = samples.find((sample) => sample.failure !== undefined)?.failure;
  return {
    rate: of("rate") ?? 0,
    ...(cpuUs !== undefined && { cpuUs }),
    ...(loadShare !== undefined && { loadShare }),
    ...(failure !== undefined && { failure }),
  };
}

/** Rows that are measured together, in turns. */
function inTurns(asked: readonly Asked[]): Row["measure"][] {
  let latest: { round: number; samples: Promise<Sample[]> } | undefined;
  const all = async ({ round, durationMs }: Round): Promise<Sample[]> => {
    const turns = Math.max(LEAST_TURNS, Math.ceil(durationMs / TURN_MS));
    const samples: Sample[][] = asked.map(() => []);
    for (let turn = 0; turn < turns; turn += 1)
      for (const at of turn % 2 === 0 ? [0, 1] : [1, 0])
        samples[at]?.push((await asked[at]?.measure({ round, durationMs: TURN_MS })) ?? { rate: 0 });
    const [first] = samples;
    return samples.map((own) => middle(own, own === first ? undefined : first));
  };
  return asked.map(({ moorage }, at) =>
    rested(moorage, async (round) => {
      if (latest?.round !== round.round) latest = { round: round.round, samples: all(round) };
      return (await latest.samples)[at] ?? { rate: 0, failure: "not measured" };
    }),
  );
}

/** What is pulled, by its title: a path, or a file of paths. */
async function pulledFrom(bench: Bench, moorage: Moorage, how: string): Promise<Map<string, Asked>> {
  const repository = `${moorage.organization.name}/counted`;
  const { digest, layer, manifest } = await pushImage(moorage, repository, "latest");
  const ask = (path: string, fill?: string): Asked => ({
    moorage,
    measure: overHttp(
      bench,
      moorage,
      () => [[get(`/v2/${repository}/${path}`, moorage.authorization, MANIFEST)]],
      fill === undefined ? {} : { fill },
    ),
  });
  const paths: string[] = [];
  for (let at = 0; at < MANIFESTS; at += 1) {
    const other = { ...(JSON.parse(manifest.toString()) as object), annotations: { number: String(at) } };
    const content = Buffer.from(JSON.stringify(other));
    await tagImage(moorage, repository, `other-${at}`, content);
    paths.push(`sha256:${createHash("sha256").update(content).digest("hex")}`);
  }
  const urls = Array.from({ length: URLS_OF_EACH }, (_, url) => paths.map((path) => `${path}?url=${url}`)).flat();
  const fill = join(bench.scratch, `counted-${bench.engine}-${how}`.replaceAll(/[^a-zA-Z0-9]+/g, "-"));
  writeFileSync(fill, urls.join("\n"));
  return new Map([
    ["manifest by tag", ask("manifests/latest")],
    ["manifest by digest", ask(`manifests/${digest}`)],
    ["4 KiB blob", ask(`blobs/${layer}`)],
    [`${MANIFESTS} manifests by digest, none cached`, ask(`manifests/${PLACE}`, fill)],
  ]);
}

/** Pulls from a server that counts them, and from one that does not. Both emit events of them. */
export async function pullStatisticsSection(bench: Bench): Promise<Section | undefined> {
  const {
    uncounted,
    engine,
    servers: [smallest],
  } = bench;
  if (uncounted === undefined || smallest === undefined) return undefined;
  const without = await pulledFrom(bench, uncounted, "without");
  const counted = await pulledFrom(bench, smallest.moorage, "with");
  const rows = [...counted].flatMap(([what, asked]): Row[] => {
    const other = without.get(what);
    if (other === undefined) return [];
    const [alone, both] = inTurns([other, asked]);
    const title = (how: string): string => `${what}, ${how} pull statistics, ${engine}`;
    if (alone === undefined || both === undefined) return [];
    return [
      { title: title("without"), unit: "/s", measure: alone },
      {
        title: title("with"),
        unit: "/s",
        measure: both,
        against: [{ title: title("without"), goal: GOAL, byCpu: true }],
      },
    ];
  });
  return { title: `pull statistics, ${engine}`, rows };
}

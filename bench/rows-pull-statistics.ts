import { MANIFEST, pushImage } from "./registries.ts";
import type { Moorage } from "./moorage.ts";
import { rested } from "./rows-pull-events.ts";
import { type Bench, get, overHttp, type Row, type Section } from "./rows.ts";

// A pull with statistics takes at most 1.05 of one without.
const GOAL = 1 / 1.05;

/** Pulls from a server that counts them, and from one that does not. Both emit events of them. */
export async function pullStatisticsSection(bench: Bench): Promise<Section | undefined> {
  const {
    uncounted,
    engine,
    servers: [smallest],
  } = bench;
  if (uncounted === undefined || smallest === undefined) return undefined;
  const rowsOf = async (moorage: Moorage, how: string): Promise<Row[]> => {
    const repository = `${moorage.organization.name}/counted`;
    const { digest, layer } = await pushImage(moorage, repository, "latest");
    const paths = {
      "manifest by tag": "manifests/latest",
      "manifest by digest": `manifests/${digest}`,
      "4 KiB blob": `blobs/${layer}`,
    };
    return Object.entries(paths).map(([what, path]) => {
      const pulled = overHttp(bench, moorage, () => [
        [get(`/v2/${repository}/${path}`, moorage.authorization, MANIFEST)],
      ]);
      return { title: `${what}, ${how}, ${engine}`, unit: "/s", measure: rested(moorage, pulled) };
    });
  };
  const without = await rowsOf(uncounted, "without pull statistics");
  const counted = await rowsOf(smallest.moorage, "with pull statistics");
  const rows = counted.flatMap((row, at): Row[] => {
    const alone = without[at];
    return alone === undefined ? [] : [alone, { ...row, against: [{ title: alone.title, goal: GOAL }] }];
  });
  return { title: `pull statistics, ${engine}`, rows };
}

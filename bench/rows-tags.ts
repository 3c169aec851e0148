import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { PLACE } from "./load.ts";
import { api, findRepo } from "./moorage.ts";
import { MANIFEST } from "./registries.ts";
import { type Bench, count, get, overHttp, type Row, type Section } from "./rows.ts";
import { MANIFESTS, recordTimeMs, tagName, taggedName, tagUpdateTimeMs } from "./seed-sql.ts";

/** The smaller number of tags and records. */
export const FEW_TAGS = 100;
// Pages have the same length for both sizes, also the deep one.
const PAGE = 20;
// An index over a million rows has a level or two more than one over a hundred, and does not fit into the processor's
// caches.
export const FLAT_GOAL = 0.8;
// More spellings of a query, and more seconds, than the response cache can hold.
export const SPELLINGS = 6_000;
const SECONDS = 30_000;

/** The repo of a row: it has so many tags, and the first tag has as many records. */
interface Place {
  tags: number;
  repo: string;
  name: string;
}
/** The requests to a place: one path, or so many paths that the response cache answers none. `of`: tags or records. */
interface What {
  title: string;
  of: "tags" | "records";
  paths(place: Place): Promise<string[]> | string[];
  isPlatform?: boolean;
}

/** The same text, percent-encoded in another way for each index: the response cache uses the path as it was sent. */
export function spelled(text: string, index: number): string {
  return Array.from(text, (letter, at) => ((index >> at) & 1 ? `%${letter.charCodeAt(0).toString(16)}` : letter)).join(
    "",
  );
}

/**
 * Lists, histories and pulls as of a time: on a repo with many tags or records, compared with few, on the same server.
 */
export async function sizeSection(bench: Bench): Promise<Section> {
  const {
    engine,
    sizes,
    largest: { moorage },
  } = bench;
  const places: Place[] = [];
  for (const tags of new Set([FEW_TAGS, sizes.tags])) {
    places.push({
      tags,
      repo: await findRepo(moorage, taggedName(tags)),
      name: `${moorage.organization.name}/${taggedName(tags)}`,
    });
  }
  const rows: Row[] = [];
  for (const { title, of, paths, isPlatform = false } of whats(bench)) {
    const named = ({ tags }: Place): string => `${title} of ${count(tags)} ${of}, ${engine}`;
    for (const place of places) {
      const all = await paths(place);
      const fill = join(bench.scratch, named(place).replaceAll(/[^a-zA-Z0-9]+/g, "-"));
      writeFileSync(fill, all.join("\n"));
      const [server, authorization] = isPlatform
        ? [moorage.platform, moorage.platform.authorization]
        : [moorage, moorage.authorization];
      const [few] = places;
      rows.push({
        title: named(place),
        unit: "/s",
        measure: overHttp(bench, server, () => [[get(PLACE, authorization, MANIFEST)]], { fill }),
        ...(few !== undefined && place !== few && { against: [{ title: named(few), goal: FLAT_GOAL }] }),
      });
    }
  }
  return { title: `tags at size, ${engine}`, rows };
}

function whats({
  largest: {
    moorage: { platform },
  },
}: Bench): What[] {
  const list = (title: string, parameters: (place: Place) => Promise<string> | string): What => ({
    title,
    of: "tags",
    isPlatform: true,
    async paths(place) {
      const rest = await parameters(place);
      const path = (index: number): string =>
        `/registry/v2/tags?uidp.children_of=${spelled(place.repo, index)}&page_size=${PAGE}${rest}`;
      return Array.from({ length: SPELLINGS }, (_, index) => path(index));
    },
  });
  const asked = <T>(repo: string, rest: string): Promise<T> =>
    api<T>(platform, "GET", `/registry/v2/tags?uidp.children_of=${repo}&page_size=${PAGE}${rest}`);
  const middle = ({ tags }: Place): number => tags >> 1;
  const text = (ms: number): string => encodeURIComponent(new Date(ms).toISOString());
  const time = (record: number): string => text(recordTimeMs(record));
  const registry = (title: string, of: What["of"], path: (place: Place) => string): What => ({
    title,
    of,
    paths: (place) => [`/v2/${place.name}/${path(place)}`],
  });
  const history =
    (from: (place: Place) => number) =>
    (place: Place): string =>
      `_service/history/${tagName(0)}?start=${time(from(place))}&end=${time(from(place) + PAGE - 1)}`;
  return [
    registry(`tags/list, first ${PAGE}`, "tags", () => `tags/list?n=${PAGE}`),
    registry(
      `tags/list, ${PAGE} from the middle`,
      "tags",
      (place) => `tags/list?n=${PAGE}&last=${tagName(middle(place))}`,
    ),
    list(`list, first ${PAGE}`, () => ""),
    list(`list, ${PAGE} from the middle by token`, async (place) => {
      const { nextPageToken } = await asked<{ nextPageToken: string }>(place.repo, `&skip=${middle(place) - PAGE}`);
      return `&page_token=${encodeURIComponent(nextPageToken)}`;
    }),
    list(`list, the ${PAGE} that moved last`, () => `&order_by=${encodeURIComponent("update_time desc")}`),
    list("list, filter by name", (place) => `&name=${tagName(middle(place))}`),
    list("list, filter by digest", async (place) => {
      const {
        tags: [tag],
      } = await asked<{ tags: { digest: string }[] }>(place.repo, `&name=${tagName(middle(place))}`);
      return `&digest=${tag?.digest}`;
    }),
    list(`list, ${PAGE} that moved since a time`, ({ tags }) => `&updated_since=${text(tagUpdateTimeMs(tags - PAGE))}`),
    registry(
      `history, first ${PAGE}`,
      "records",
      history(() => 0),
    ),
    registry(`history, ${PAGE} from the middle`, "records", history(middle)),
    registry(`tag history, newest ${PAGE}`, "records", () => `_oci/tag-history/${tagName(0)}?n=${PAGE}`),
    registry(
      `tag history, ${PAGE} from the middle`,
      "records",
      (place) => `_oci/tag-history/${tagName(0)}?n=${PAGE}&before=${time(middle(place))}`,
    ),
    {
      title: "pull as of a second, another each time,",
      of: "records",
      // With few records, most seconds are after the last one. With many, the seconds go back from the newest as far as
      // there are manifests to pull.
      paths: ({ name, tags }) =>
        Array.from({ length: SECONDS }, (_, second) => {
          const at = new Date(recordTimeMs(second + Math.max(0, Math.min(MANIFESTS, tags) - SECONDS)));
          return `/v2/${name}/manifests/${tagName(0)}--at--${at.toISOString().slice(0, 19).replaceAll(/[-:]/g, "")}Z`;
        }),
    },
  ];
}

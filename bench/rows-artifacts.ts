import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Installation } from "./installations.ts";
import { PLACE } from "./load.ts";
import { api, type Moorage, startMoorage } from "./moorage.ts";
import { stop } from "./processes.ts";
import { FLAT_GOAL, spelled, SPELLINGS } from "./rows-tags.ts";
import { type Bench, count, get, overHttp, type Row, type Section } from "./rows.ts";
import { artifactName, artifactVersion, FEW_ARTIFACTS, versionedName } from "./seed-artifacts.ts";

const PAGE = 50;
const FEW = 20;
const CALLERS = 16;
const ECOSYSTEM = "ECOSYSTEM_JAVASCRIPT";

/** An organization with so many libraries, of which one has as many versions. */
interface Place {
  artifacts: number;
  uid: string;
  name: string;
}

/** What is asked: so many paths that the response cache answers none. */
interface What {
  title: string;
  of: "artifacts" | "versions";
  paths(moorage: Moorage, place: Place): Promise<string[]> | string[];
}

/** Pages of a million libraries and versions, and what clients ask of one of them, compared with a hundred. */
export function artifactSection(
  bench: Bench,
  install: () => Promise<Installation>,
  onClose: (close: () => Promise<void>) => void,
): Section {
  const { engine, sizes } = bench;
  let opened: Promise<Moorage> | undefined;
  const open = async (): Promise<Moorage> => {
    const { place } = await install();
    const moorage = await startMoorage(place);
    onClose(() => stop(moorage.process));
    return moorage;
  };
  const server = (): Promise<Moorage> => (opened ??= open());
  const placeOf = ({ organization, publicOrganization }: Moorage, artifacts: number): Place => ({
    artifacts,
    ...(artifacts === FEW_ARTIFACTS ? publicOrganization : organization),
  });
  const few = FEW_ARTIFACTS;
  const rows = whats().flatMap(({ title, of, paths }) => {
    const named = (artifacts: number): string => `${title} of ${count(artifacts)} ${of}, ${engine}`;
    return [few, sizes.artifacts].map((artifacts): Row => {
      const fill = join(bench.scratch, named(artifacts).replaceAll(/[^a-zA-Z0-9]+/g, "-"));
      return {
        title: named(artifacts),
        unit: "/s",
        async prepare() {
          const moorage = await server();
          writeFileSync(fill, (await paths(moorage, placeOf(moorage, artifacts))).join("\n"));
        },
        async measure(round) {
          const { platform } = await server();
          const requests = [[get(PLACE, platform.authorization)]];
          return await overHttp(bench, platform, () => requests, { fill, callers: CALLERS })(round);
        },
        ...(artifacts !== few && { against: [{ title: named(few), goal: FLAT_GOAL }] }),
      };
    });
  });
  return { title: `libraries at size, ${engine}`, rows };
}

function whats(): What[] {
  const listed = (title: string, rest: (moorage: Moorage, place: Place) => Promise<string> | string): What => ({
    title,
    of: "artifacts",
    async paths(moorage, place) {
      const parameters = await rest(moorage, place);
      return Array.from(
        { length: SPELLINGS },
        (_, index) =>
          `/libraries/v2/artifacts?ecosystems=${ECOSYSTEM}&uidp.descendants_of=${spelled(place.uid, index)}${parameters}`,
      );
    },
  });
  const versions = (title: string, rest: (moorage: Moorage, uid: string) => Promise<string> | string): What => ({
    title,
    of: "versions",
    async paths(moorage, place) {
      const found = await api<{ artifacts: { uid: string }[] }>(
        moorage.platform,
        "GET",
        `/libraries/v2/artifacts?ecosystems=${ECOSYSTEM}&uidp.descendants_of=${place.uid}&query=${versionedName(place.artifacts)}`,
      );
      const uid = found.artifacts[0]?.uid ?? "";
      const parameters = await rest(moorage, uid);
      const path = (index: number): string => spelled(uid, index).replaceAll("/", "%2F");
      return Array.from(
        { length: SPELLINGS },
        (_, index) => `/libraries/v2/artifacts/${path(index)}/versions?page_size=${FEW}${parameters}`,
      );
    },
  });
  const middle = ({ artifacts }: Place): number => artifacts >> 1;
  // A hundred of them, from the first to the last, so that as many documents are made.
  const another = ({ artifacts }: Place): number[] =>
    Array.from({ length: SPELLINGS }, (_, index) => (index % FEW_ARTIFACTS) * Math.floor(artifacts / FEW_ARTIFACTS));
  const spelledOften = (text: string, index: number): string => spelled(text, Math.floor(index / FEW_ARTIFACTS));
  return [
    listed(`list, first ${PAGE}`, () => ""),
    listed(`list, ${FEW} from the middle by token`, async ({ platform }, place) => {
      const base = `/libraries/v2/artifacts?ecosystems=${ECOSYSTEM}&uidp.descendants_of=${place.uid}&page_size=${FEW}`;
      const { nextPageToken } = await api<{ nextPageToken: string }>(
        platform,
        "GET",
        `${base}&skip=${middle(place) - FEW}`,
      );
      return `&page_size=${FEW}&page_token=${encodeURIComponent(nextPageToken)}`;
    }),
    listed("list, search for a name", (_, place) => `&query=${artifactName(middle(place))}`),
    versions(`versions, newest ${FEW}`, () => ""),
    {
      title: "packument, another each time,",
      of: "artifacts",
      paths: (_, place) =>
        another(place).map((index, at) => `/npm/${place.name}/${spelledOften(artifactName(index), at)}`),
    },
    {
      title: "a version's document, another each time,",
      of: "versions",
      paths: (_, place) =>
        another(place).map((index, at) => {
          const name = spelledOften(versionedName(place.artifacts), at);
          return `/npm/${place.name}/${name}/${artifactVersion(index)}`;
        }),
    },
  ];
}

import { PACKAGES, packageName, VERSIONS } from "./library-fixtures.ts";
import { type LibraryPeer, startDevpi, startVerdaccio } from "./library-peers.ts";
import {
  type Client,
  documentRequest,
  fill,
  installRequests,
  type LibraryPlace,
  MANY,
  mooragePlace,
  peerPlace,
  pullToken,
} from "./library-places.ts";
import { stop } from "./processes.ts";
import { type Bench, overHttp, type Round, type Row, type Sample, type Section } from "./rows.ts";
import { say } from "./say.ts";

/** As many connections as npm opens. */
export const CONNECTIONS = 16;
const WARM_GOAL = 3;
const DOCUMENTS = { npm: "packument", pypi: "simple page" } as const;
export const THINGS = { npm: "packages", pypi: "projects" } as const;

type Starter = (folder: string, options: { upstream?: string; name?: string }) => Promise<LibraryPeer | undefined>;
const PEERS: Readonly<Record<Client, Starter>> = { npm: startVerdaccio, pypi: startDevpi };

/**
 * Packages that were published: what clients ask of them, at Moorage and at the peer on the same core. Undefined where
 * a peer is missing.
 */
export async function librariesSection(
  bench: Bench,
  client: Client,
  onClose: (close: () => Promise<void>) => void,
): Promise<Section | undefined> {
  const { engine, scratch, servers } = bench;
  const [first] = servers;
  if (first === undefined) return undefined;
  const peer = await startPeer(client, `${scratch}/${engine}`, {}, onClose);
  if (peer === undefined) return undefined;
  const { moorage, installation } = first;
  const group = moorage.organization.name;
  const password = pullToken(installation.place, group);
  const named = { name: `moorage on ${engine}`, group, password };
  const places = [peerPlace(client, peer), mooragePlace(client, moorage, named)];
  const rows = places.flatMap((place) => warmRows(bench, place, places[0], (place) => fill(place)));
  return { title: `libraries of ${client}, published, ${engine}`, rows: byTitle(rows, places.length) };
}

/** Starts a peer, or says that it is missing. */
export async function startPeer(
  client: Client,
  folder: string,
  options: { upstream?: string; name?: string },
  onClose: (close: () => Promise<void>) => void,
): Promise<LibraryPeer | undefined> {
  const peer = await PEERS[client](folder, options);
  if (peer === undefined)
    say(`libraries of ${client} are left out: .ci/tools.sh ${client === "npm" ? "verdaccio" : "devpi-server"}`);
  else onClose(() => stop(peer.process));
  return peer;
}

/** The rows of both places next to each other. */
export function byTitle(rows: readonly Row[], places: number): Row[] {
  const each = rows.length / places;
  return Array.from({ length: each }, (_, at) => rows.filter((__, index) => index % each === at)).flat();
}

/** What is in memory or on the disk of the server. `prepare`: puts it there, once for the place. */
export function warmRows(
  bench: Bench,
  place: LibraryPlace,
  other: LibraryPlace | undefined,
  prepare: (place: LibraryPlace) => Promise<void>,
  { prefix = "bench", many = MANY, from = "" }: { prefix?: string; many?: string; from?: string } = {},
): Row[] {
  const { client, server } = place;
  const names = Array.from({ length: PACKAGES }, (_, index) => packageName(index, prefix));
  let prepared: Promise<string[][]> | undefined;
  const ready = (): Promise<string[][]> => (prepared ??= prepare(place).then(() => installRequests(place, names)));
  const manner = { callers: CONNECTIONS };
  const load =
    (sequences: () => Promise<string[][]>) =>
    async (round: Round): Promise<Sample> => {
      const all = await sequences();
      return await overHttp(bench, server, () => all, manner)(round);
    };
  const of = DOCUMENTS[client];
  const whats: { title: string; unit?: number; sequences(): Promise<string[][]> }[] = [
    {
      title: `${of} of ${VERSIONS} versions, the same`,
      sequences: async () => [[documentRequest(place, many)]],
    },
    {
      title: `${of}, another of ${PACKAGES}`,
      sequences: async () => shared(names.map((name) => [documentRequest(place, name)])),
    },
    {
      title: `${client === "npm" ? "tarball" : "wheel"} of 16 KiB, another of ${PACKAGES}`,
      sequences: async () => shared((await ready()).map((requests) => requests.slice(-1))),
    },
    {
      title: `installation of ${PACKAGES} ${THINGS[client]}`,
      unit: PACKAGES,
      sequences: async () => shared(await ready()),
    },
  ];
  return whats.map(({ title, unit, sequences }): Row => {
    const titleAt = (where: LibraryPlace): string => `${title}, ${client}${from}, ${where.name}`;
    const requests = async (): Promise<number> =>
      unit === undefined ? 1 : (await ready()).reduce((sum, each) => sum + each.length, 0);
    return {
      title: titleAt(place),
      unit: "/s",
      prepare: async () => void (await ready()),
      async measure(round) {
        const sample = await load(sequences)(round);
        const each = await requests();
        const { rate, cpuUs } = sample;
        return { ...sample, rate: rate / each, ...(cpuUs !== undefined && { cpuUs: cpuUs * each }) };
      },
      ...(other !== undefined && other !== place && { against: [{ title: titleAt(other), goal: WARM_GOAL }] }),
    };
  });
}

/** Shares the packages out to the connections: each asks for its own, again and again. */
function shared(packages: readonly string[][]): string[][] {
  const sequences: string[][] = Array.from({ length: CONNECTIONS }, () => []);
  for (const [index, requests] of packages.entries()) sequences[index % CONNECTIONS]?.push(...requests);
  return sequences;
}

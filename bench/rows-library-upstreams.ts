import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { PACKAGES, packageName } from "./library-fixtures.ts";
import {
  type Client,
  documentRequest,
  type LibraryPlace,
  mooragePlace,
  peerPlace,
  pullToken,
} from "./library-places.ts";
import { UPSTREAM_PATHS } from "./library-upstream.ts";
import { api } from "./moorage.ts";
import { freePort, LOAD_CORE, start, stop, untilAnswers } from "./processes.ts";
import { byTitle, CONNECTIONS, startPeer, THINGS, warmRows } from "./rows-libraries.ts";
import { type Bench, type Row, sampled, type Section } from "./rows.ts";

const COLD_GOAL = 1;
const START_TIMEOUT_MS = 30_000;
const ECOSYSTEMS = { npm: "ECOSYSTEM_JAVASCRIPT", pypi: "ECOSYSTEM_PYTHON" } as const;

/**
 * Packages of an upstream, of Moorage and of the peer: an installation of packages that were never asked for, and what
 * clients ask of those that are there since. Undefined where the peer is missing.
 */
export async function libraryUpstreamSection(
  bench: Bench,
  client: Client,
  onClose: (close: () => Promise<void>) => void,
): Promise<Section | undefined> {
  const { engine, servers } = bench;
  const [first] = servers;
  if (first === undefined) return undefined;
  const upstream = `${await startUpstream(onClose)}${UPSTREAM_PATHS[client]}`;
  const folder = join(bench.scratch, `upstream-${engine}`);
  mkdirSync(folder, { recursive: true });
  const peer = await startPeer(client, folder, { upstream }, onClose);
  if (peer === undefined) return undefined;
  const { moorage, installation } = first;
  const { organization, platform } = moorage;
  // A group of its own: what the organization itself has published is not behind an upstream.
  const group = `${client}-upstream`;
  const made = await api<{ uid: string }>(platform, "POST", `/iam/v2/groups/${organization.uid}`, { name: group });
  const settings = { ecosystem: ECOSYSTEMS[client], url: upstream };
  await api(platform, "POST", `/libraries/v2/upstreams/${made.uid}`, settings);
  const password = pullToken(installation.place, organization.name);
  const named = { name: `moorage on ${engine}`, group: `${organization.name}/${group}`, password };
  const places = [peerPlace(client, peer), mooragePlace(client, moorage, named)];
  const from = ", of an upstream";
  const options = { prefix: "warm", many: packageName(0, "warm"), from };
  const rows = places.flatMap((place) => [
    coldRow(bench, place, places[0], from),
    ...warmRows(bench, place, places[0], async () => {}, options),
  ]);
  return { title: `libraries of ${client}${from}, ${engine}`, rows: byTitle(rows, places.length) };
}

async function startUpstream(onClose: (close: () => Promise<void>) => void): Promise<string> {
  const port = await freePort();
  const child = start(LOAD_CORE, process.execPath, [new URL("library-upstream.ts", import.meta.url).pathname]);
  onClose(() => stop(child));
  child.stdin?.end(JSON.stringify({ port }));
  await untilAnswers(`http://127.0.0.1:${port}/-/ping`, child, START_TIMEOUT_MS);
  return `http://127.0.0.1:${port}`;
}

/** One installation of packages that the server has not seen before. */
function coldRow({ loader, engine }: Bench, place: LibraryPlace, other: LibraryPlace | undefined, from: string): Row {
  const { client, server } = place;
  const titleAt = (where: LibraryPlace): string =>
    `installation of ${PACKAGES} ${THINGS[client]}, cold, ${client}${from}, ${where.name}`;
  const head = (request: string): string => request.slice(request.indexOf("accept:"), -"\r\n".length);
  const documentHead = head(documentRequest(place, "any"));
  return {
    title: titleAt(place),
    unit: "/s",
    async measure({ round }) {
      const prefix = `cold-${engine.toLowerCase()}-${round}`;
      const documents = Array.from({ length: PACKAGES }, (_, index) => place.document(packageName(index, prefix)));
      const load = {
        port: server.port,
        connections: CONNECTIONS,
        client,
        documents,
        documentHead,
        fileHead: `accept: */*\r\n${place.authorization}`,
      };
      const sample = await sampled(server, () => loader.install(load));
      const { rate, cpuUs } = sample;
      return { ...sample, rate: rate / PACKAGES, ...(cpuUs !== undefined && { cpuUs: cpuUs * PACKAGES }) };
    },
    ...(other !== undefined && other !== place && { against: [{ title: titleAt(other), goal: COLD_GOAL }] }),
  };
}

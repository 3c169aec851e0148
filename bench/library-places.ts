import { spawnSync } from "node:child_process";
import { npmDocument, PACKAGES, packageName, versionsOf, wheelForm } from "./library-fixtures.ts";
import { installPaths } from "./library-install.ts";
import type { LibraryPeer } from "./library-peers.ts";
import type { Moorage, Place } from "./moorage.ts";
import { type Registry, send } from "./registries.ts";
import { get } from "./rows.ts";

/** The documents that clients ask for, as their Accept headers have it. */
const ACCEPT = {
  npm: "application/vnd.npm.install-v1+json; q=1.0, application/json; q=0.8, */*",
  pypi: "application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html; q=0.1, text/html; q=0.01",
} as const;
/** Those that ask for packages, by the registry that has them. */
export type Client = keyof typeof ACCEPT;

/** Where packages or projects are: a server, and how its paths are made. */
export interface LibraryPlace {
  client: Client;
  server: Registry;
  /** What stands for it in titles. */
  name: string;
  /** The header line of the client. */
  authorization: string;
  /** The path of a packument, or of the page of a project. */
  document(name: string): string;
  /** Where a packument with a new version, or the form of a file, is sent. */
  publishPath(name: string): string;
}

const CLI_TIMEOUT_MS = 60_000;
export const MANY = "bench-many";

/** A password as people put it into their clients: of a pull token of the organization. */
export function pullToken({ launcher, dataDir, env }: Place, organization: string): string {
  const what = ["pull-token", "create", "--group", organization, "--name", "bench-libraries", "--json"];
  const { status, stdout, stderr } = spawnSync(process.execPath, [launcher, ...what, "--data-dir", dataDir], {
    env: { ...process.env, ...env },
    encoding: "utf8",
    timeout: CLI_TIMEOUT_MS,
  });
  if (status !== 0) throw new Error(`moorage pull-token failed: ${stderr}`);
  return (JSON.parse(stdout) as { password: string }).password;
}

/** A group of Moorage: npm sends the password of `.npmrc` as Bearer, pip that of the index's URL as Basic. */
export function mooragePlace(
  client: Client,
  { platform }: Moorage,
  named: { name: string; group: string; password: string },
): LibraryPlace {
  const { name, group, password } = named;
  const base = `/${client}/${group}`;
  return client === "npm"
    ? {
        client,
        server: platform,
        name,
        authorization: `authorization: Bearer ${password}\r\n`,
        document: (of) => `${base}/${of}`,
        publishPath: (of) => `${base}/${of}`,
      }
    : {
        client,
        server: platform,
        name,
        authorization: `authorization: Basic ${Buffer.from(`any:${password}`).toString("base64")}\r\n`,
        document: (of) => `${base}/simple/${of}/`,
        publishPath: () => `${base}/legacy/`,
      };
}

/** A peer, without credentials. */
export function peerPlace(client: Client, peer: LibraryPeer): LibraryPlace {
  const { name, base } = peer;
  const path = client === "npm" ? (of: string) => `${base}/${of}` : (of: string) => `${base}/+simple/${of}/`;
  return {
    client,
    server: peer,
    name,
    authorization: "",
    document: path,
    publishPath: client === "npm" ? path : () => `${base}/`,
  };
}

async function publish({ client, server, publishPath }: LibraryPlace, name: string, version: string): Promise<void> {
  const body =
    client === "npm"
      ? { type: "application/json", content: Buffer.from(JSON.stringify(npmDocument(name, version))) }
      : await wheelForm(name, version);
  const answer = await send(server, client === "npm" ? "PUT" : "POST", publishPath(name), body);
  await answer.body?.cancel();
}

/** Publishes the packages of an application with a version each, and one with many versions. */
export async function fill(place: LibraryPlace): Promise<void> {
  for (let index = 0; index < PACKAGES; index += 1)
    for (const version of versionsOf(1)) await publish(place, packageName(index), version);
  for (const version of versionsOf()) await publish(place, MANY, version);
}

/** The request of a client for a document, and for a file. */
export function documentRequest({ client, authorization, document }: LibraryPlace, name: string): string {
  return get(document(name), `accept-encoding: gzip\r\n${authorization}`, ACCEPT[client]);
}
function fileRequest({ authorization }: LibraryPlace, path: string): string {
  return get(path, authorization);
}

/** All requests of an installation of these packages, with the paths of the files that their documents name. */
export async function installRequests(place: LibraryPlace, names: readonly string[]): Promise<string[][]> {
  const all: string[][] = [];
  for (const name of names) {
    const headers = { accept: ACCEPT[place.client], ...headerOf(place.authorization) };
    const url = `http://127.0.0.1:${place.server.port}${place.document(name)}`;
    const answer = await fetch(url, { headers, signal: AbortSignal.timeout(CLI_TIMEOUT_MS) });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${place.name}: ${url} answered ${answer.status}: ${text.slice(0, 300)}`);
    const paths = installPaths(place.client, place.document(name), text);
    all.push([documentRequest(place, name), ...paths.map((path) => fileRequest(place, path))]);
  }
  return all;
}

function headerOf(line: string): Record<string, string> {
  return line === "" ? {} : { authorization: line.slice("authorization: ".length).trim() };
}

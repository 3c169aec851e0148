import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
import { dropDatabase } from "./database.ts";
import { type Endpoint, openEndpoint } from "./registry-endpoint.ts";
import { eventually } from "./eventually.ts";

// A server of its own for each test file that imports this module, with an identity that may do all in acme, and a
// client's requests.

export const REPO = "acme/api";
export const folder = await mkdtemp(join(tmpdir(), "moorage-endpoint-"));
export const endpoint = await openEndpoint(folder);
export const { acme, bearer } = endpoint;
/** An identity with all rights in acme. */
export const ownerIdentity = await endpoint.addIdentity(acme);
/** Its Authorization header. */
export const owner = await bearer({ identity: ownerIdentity });

const others: Endpoint[] = [];
/** Another server of the same folder. */
export async function openOther(): Promise<Endpoint> {
  const opened = await openEndpoint(folder, { prepared: true });
  others.push(opened);
  return opened;
}

after(async () => {
  for (const each of [...others, endpoint]) await each.close();
  await dropDatabase(folder);
  await rm(folder, { recursive: true, force: true });
});

export interface Options {
  body?: Uint8Array<ArrayBuffer> | string;
  headers?: Record<string, string>;
  as?: string;
  url?: string;
}

export function ask(
  method: string,
  path: string,
  { body, headers = {}, as = owner, url = endpoint.url }: Options = {},
): Promise<Response> {
  const authorization: Record<string, string> = as === "" ? {} : { authorization: as };
  return fetch(url + path, { method, body, headers: { ...authorization, ...headers } });
}

export function sha(content: Uint8Array, algorithm = "sha256"): string {
  return `${algorithm}:${createHash(algorithm).update(content).digest("hex")}`;
}

export async function begin(options: Options = {}, repo = REPO): Promise<string> {
  const response = await ask("POST", `/v2/${repo}/blobs/uploads/`, options);
  assert.equal(response.status, 202);
  assert.equal(response.headers.get("range"), "0-0");
  return response.headers.get("location") ?? "";
}

/** How the blob store names the upload at that path. */
export function uploadOf(path: string): string {
  const bytes = Buffer.from(path.slice(path.lastIndexOf("/") + 1), "base64url");
  // The authentication code comes first.
  return bytes.subarray(16).toString("hex");
}

export async function push(content: Uint8Array<ArrayBuffer>, repo = REPO, as = owner): Promise<string> {
  const response = await ask("POST", `/v2/${repo}/blobs/uploads/?digest=${sha(content)}`, { body: content, as });
  assert.equal(response.status, 201, await response.text());
  return sha(content);
}

export async function rejection(response: Response, status: number, ociCode: string): Promise<void> {
  const body = (await response.json()) as {
    errors: { code: string }[];
    code: number;
    message: string;
    details: { "@type": string }[];
  };
  assert.equal(response.status, status, JSON.stringify(body));
  assert.equal(body.errors[0]?.code, ociCode);
  assert.ok(
    body.code > 0 &&
      body.message !== "" &&
      body.details.some((detail) => detail["@type"].endsWith("google.rpc.ErrorInfo")),
  );
}

export async function bytes(response: Response): Promise<Buffer> {
  return Buffer.from(await response.arrayBuffer());
}

export async function filesIn(part: string): Promise<string[]> {
  const entries = await readdir(join(folder, part), { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => entry.name);
}

/** Repeats the check until it is true; when it never is, the test fails by the runner's timeout. */
export async function waitFor(condition: () => Promise<boolean>): Promise<void> {
  await eventually(condition);
}

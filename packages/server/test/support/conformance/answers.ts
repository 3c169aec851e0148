import assert from "node:assert/strict";
import type { Reply } from "./client.ts";
import { OCI, OCTETS } from "./content.ts";
import type { Run } from "./settings.ts";

/** Accept headers for manifests: two headers, as clients written in Go send them. */
export const ACCEPT = { accept: [OCI.index, OCI.image] };
export const OCTET_STREAM = { "content-type": OCTETS };

export function assertStatus(reply: Reply, status: number, message = ""): void {
  assert.equal(reply.status, status, `${message} ${reply.body.toString().slice(0, 1000)}`);
}

/** Asserts an error of the specification: its status, and its code in a body of the documented form. */
export function assertError(reply: Reply, status: number, code: string, message = ""): void {
  assertStatus(reply, status, message);
  const { errors } = JSON.parse(reply.body.toString()) as { errors: { code: string; message: string }[] };
  assert.equal(errors[0]?.code, code, message);
  assert.equal(typeof errors[0]?.message, "string");
  assert.match(reply.headers["content-type"] ?? "", /^application\/json/);
}

/** Asserts that Docker-Content-Digest is right where present, and present where the version requires it. */
export function assertDigest(reply: Reply, digest: string, { expects }: Run): void {
  const header = reply.headers["docker-content-digest"];
  if (expects.digestHeader || header !== undefined) assert.equal(header, digest, "Docker-Content-Digest");
}

export function assertBody(reply: Reply, body: Buffer): void {
  assert.ok(reply.body.equals(body), `${body.length} bytes are expected, ${reply.body.length} others came`);
}

export function locationOf(reply: Reply): string {
  assert.ok(reply.headers.location, "no Location");
  return reply.headers.location;
}

/** The next page of a list, by its Link header. */
export function nextOf(reply: Reply): string | undefined {
  const { link } = reply.headers;
  return typeof link === "string" ? /^<(.+)>; rel="next"$/.exec(link)?.[1] : undefined;
}

/** The answer's body as JSON. */
export function jsonOf<T>(reply: Reply): T {
  return JSON.parse(reply.body.toString()) as T;
}

import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { type Collected, collectGarbage } from "../../../registry/src/oci/index.ts";
import { digestOf, OCI_IMAGE, OCI_INDEX, startRegistry } from "./registry-server.ts";

export const MINUTE_MS = 60_000;
export const GRACE_MS = 4 * MINUTE_MS;
export const NOTHING = { tags: 0, manifests: 0, blobs: 0, bytes: 0 };

/**
 * A registry whose garbage is collected when a test says so. Its clock is moved, so that a grace of minutes passes
 * immediately. Content is checked as a viewer, because a check by an identity that may push gives content a new grace.
 */
export async function startCollecting(t: TestContext, graceMs = GRACE_MS) {
  const registry = await startRegistry(t, { MOORAGE_GC_GRACE: `${graceMs / 1000}s` });
  const { clock, ask, db, deps, pushManifest } = registry;
  const viewer = await registry.mint(registry.viewer);
  const pass = (minutes: number): void => {
    clock.offsetMs += minutes * MINUTE_MS;
  };
  const run = (
    change: {
      dryRun?: boolean;
      repo?: string;
      signal?: AbortSignal;
      onRepo?(name: string, collected: Collected): void;
    } = {},
  ): Promise<Collected> =>
    collectGarbage(deps, {
      nowMs: clock.nowMs(),
      graceMs,
      uploadTtlMs: deps.config.uploadTtlMs,
      dryRun: false,
      signal: new AbortController().signal,
      ...change,
    });
  /** Collects, and asserts that a dry run before it has the same result. */
  const collect = async (): Promise<Collected> => {
    const expected = await run({ dryRun: true });
    const went = await run();
    assert.deepEqual(expected, went, "the dry run reports what is collected");
    return went;
  };
  const look = async (name: string, kind: "manifests" | "blobs", digest: string): Promise<boolean> => {
    const { status, text } = await ask(`/v2/${name}/${kind}/${digest}`, { token: viewer });
    assert.ok(status === 200 || status === 404, text);
    if (status === 200) assert.equal(digestOf(text), digest);
    return status === 200;
  };
  /** The number of stored blobs. */
  const stored = async (): Promise<number> => {
    let count = 0;
    for await (const _ of deps.blobs.listBlobs()) count += 1;
    return count;
  };
  const policy = async (name: string, tagPolicy: object): Promise<void> => {
    await db
      .updateTable("repos")
      .set({ tag_policy: JSON.stringify(tagPolicy) })
      .where("name", "=", name)
      .execute();
  };
  /** Pushes an image. Returns its digests. */
  const push = async (name: string, reference: string | undefined, content: string, change: object = {}) => {
    const image = await registry.image(name, content, change);
    const answer = await pushManifest(name, reference ?? image.digest, image.manifest);
    assert.equal(answer.status, 201, answer.text);
    return image;
  };
  const pushIndex = async (name: string, reference: string | undefined, digests: string[]): Promise<string> => {
    const rows = await db.selectFrom("manifests").select(["digest", "size"]).where("digest", "in", digests).execute();
    const sizes = new Map(rows.map(({ digest, size }) => [digest, Number(size)]));
    const index = {
      schemaVersion: 2,
      mediaType: OCI_INDEX,
      manifests: digests.map((digest) => ({ mediaType: OCI_IMAGE, digest, size: sizes.get(digest) ?? 1 })),
    };
    const answer = await pushManifest(name, reference ?? digestOf(JSON.stringify(index)), index);
    assert.equal(answer.status, 201, answer.text);
    return digestOf(JSON.stringify(index));
  };
  const untag = async (name: string, reference: string): Promise<void> => {
    assert.equal(
      (await ask(`/v2/${name}/manifests/${reference}`, { method: "DELETE", token: registry.ownerToken })).status,
      202,
    );
  };
  const hasManifest = (name: string, digest: string): Promise<boolean> => look(name, "manifests", digest);
  const hasBlob = (name: string, digest: string): Promise<boolean> => look(name, "blobs", digest);
  return { ...registry, pass, run, collect, hasManifest, hasBlob, stored, policy, push, pushIndex, untag };
}

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import type { Answer, Detail, Json, Platform } from "./platform.ts";

const INDEX = "application/vnd.oci.image.index.v1+json";

/** A repo of the organization with three manifests, and all the ways to change its tags. */
export interface TaggedRepo {
  uid: string;
  /** The digests of its manifests. */
  digests: [one: string, two: string, three: string];
  /** Pushes one of the manifests under a tag, or by its digest and with `?tag=` parameters. */
  push(reference: string, which: number, query?: string): Promise<Answer>;
  /** Deletes by tag or digest through the registry. */
  remove(reference: string): Promise<Answer>;
  /** Sets a tag through the API. */
  set(tag: string, digest: string): Promise<Answer>;
  /** Deletes a tag through the API. */
  drop(tag: string): Promise<Answer>;
  promote(promotions: object[], options?: { validateOnly?: boolean; token?: string }): Promise<Answer>;
  rollback(rollbacks: object[], options?: { validateOnly?: boolean }): Promise<Answer>;
  /** Replaces the tag policy; undefined removes it. */
  change(tagPolicy: object | undefined): Promise<void>;
  /** Every tag with the digest it points to. */
  tags(): Promise<Record<string, string>>;
}

/** Creates such a repo below `acme`; its tag policy is set after the manifests are pushed. */
export async function openTaggedRepo(platform: Platform, name: string, tagPolicy?: object): Promise<TaggedRepo> {
  const { uid } = await platform.repo(platform.organization, { name });
  const bodies = ["one", "two", "three"].map((text) =>
    JSON.stringify({ schemaVersion: 2, mediaType: INDEX, manifests: [], annotations: { text, name } }),
  );
  const [one = "", two = "", three = ""] = bodies.map(
    (body) => `sha256:${createHash("sha256").update(body).digest("hex")}`,
  );
  const call = async (method: string, path: string, body?: unknown): Promise<Answer> =>
    platform.call(method, path, { token: await platform.token(), body });
  const registry = async (method: string, path: string, raw?: string): Promise<Answer> =>
    platform.call(method, `/v2/acme/${name}/manifests/${path}`, {
      token: await platform.token(platform.owner, { audience: new URL(platform.url).host }),
      ...(raw !== undefined && { raw, headers: { "content-type": INDEX } }),
    });
  const list = async (query = ""): Promise<Json[]> => {
    return (await platform.ok("GET", `/registry/v2/tags?uidp.children_of=${uid}&page_size=200${query}`))[
      "tags"
    ] as Json[];
  };
  const repo: TaggedRepo = {
    uid,
    digests: [one, two, three],
    push: (reference, which, query = "") => registry("PUT", reference + query, bodies[which]),
    remove: (reference) => registry("DELETE", reference),
    set: (tag, digest) => call("POST", `/registry/v2/tags/${uid}`, { name: tag, digest }),
    drop: async (tag) => call("DELETE", `/registry/v2/tags/${(await list(`&name=${tag}`))[0]?.uid}`),
    async promote(promotions, { validateOnly, token = "" } = {}) {
      return platform.call("POST", `/registry/v2/tags/${uid}:promote`, {
        token: token || (await platform.token()),
        body: { promotions, validateOnly },
      });
    },
    rollback: (rollbacks, { validateOnly } = {}) =>
      call("POST", `/registry/v2/tags/${uid.replaceAll("/", "%2F")}:rollback`, { rollbacks, validateOnly }),
    async change(policy) {
      await platform.ok("PATCH", `/registry/v2/repos/${uid}?updateMask=tagPolicy`, { tagPolicy: policy });
    },
    tags: async () => Object.fromEntries((await list()).map(({ name: tag, digest }) => [tag, String(digest)])),
  };
  for (const [which, digest] of repo.digests.entries()) assert.equal((await repo.push(digest, which)).status, 201);
  if (tagPolicy !== undefined) await repo.change(tagPolicy);
  return repo;
}

/** The violations of an error, as `type subject`. */
export function unmet({ body }: Answer): string[] {
  return body.details
    .flatMap(({ violations = [] }: Detail) => violations)
    .map(({ type, subject }) => `${type} ${subject}`);
}

import assert from "node:assert/strict";
import { assertStatus, jsonOf } from "./answers.ts";
import { type Descriptor, OCI } from "./content.ts";
import type { Run } from "./settings.ts";

/** The referrers of a subject, and whether the answer says that they were filtered. */
export async function referrersOf(
  { client, repository }: Run,
  subject: string,
  artifactType?: string,
): Promise<Descriptor[]> {
  const reply = await client.send("GET", `/v2/${repository}/referrers/${subject}`, {
    query: artifactType === undefined ? {} : { artifactType },
  });
  assertStatus(reply, 200);
  assert.equal(reply.headers["content-type"], OCI.index);
  assert.equal(reply.headers["oci-filters-applied"], artifactType === undefined ? undefined : "artifactType");
  const { manifests, ...rest } = jsonOf<{ manifests: Descriptor[] }>(reply);
  assert.deepEqual(rest, { schemaVersion: 2, mediaType: OCI.index });
  return manifests;
}

/** Asserts that the subject has exactly these referrers, in total and by each of their types. */
export async function assertReferrers(run: Run, subject: string, expected: Descriptor[]): Promise<void> {
  const sorted = (list: Descriptor[]): Descriptor[] => list.toSorted((a, b) => (a.digest < b.digest ? -1 : 1));
  assert.deepEqual(sorted(await referrersOf(run, subject)), sorted(expected));
  for (const type of new Set(expected.flatMap(({ artifactType }) => artifactType ?? [])))
    assert.deepEqual(
      sorted(await referrersOf(run, subject, type)),
      sorted(expected.filter(({ artifactType }) => artifactType === type)),
      type,
    );
  assert.deepEqual(await referrersOf(run, subject, "application/vnd.example.none"), []);
}

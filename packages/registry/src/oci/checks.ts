import { removeFaulty, type RowCheck, withoutRepo } from "@moorage/kernel/core/row-check";
import { OCI_TABLES } from "./tables.ts";

// What tags lead to: the manifests that they point to, and what those name, in any nesting.
const REACHED = `with recursive reached (repo, digest) as (
  select parent, digest from tags
  union select r.repo, r.target from reached join manifest_references as r on r.repo = reached.repo and r.digest = reached.digest where r.kind = 'manifest'
)`;
const ABSENT = `select m.repo, m.digest, m.target from manifest_references as m
  where m.kind = 'manifest' and not exists (select 1 from manifests as x where x.repo = m.repo and x.digest = m.target)`;
const IS_SPARSE = `exists (select 1 from repos as r where r.uid = m.repo and r.tag_policy like '%"allowSparse":true%')`;

/** The checks of blobs and manifests as rows; their content is checked by itself. */
export const OCI_CHECKS: readonly RowCheck[] = [
  {
    kind: "repo-blob-without-blob",
    meaning: "a repo holds a blob that the installation does not have; without the row its next push brings it back",
    find: "select r.repo, r.digest from repo_blobs as r where not exists (select 1 from blobs as b where b.digest = r.digest)",
    show: ["repo", "digest"],
    repair: removeFaulty("repo_blobs", ["repo", "digest"]),
  },
  withoutRepo("manifests", "repo", OCI_TABLES.manifests.key),
  withoutRepo("manifest_references", "repo", OCI_TABLES.manifest_references.key),
  withoutRepo("repo_blobs", "repo", OCI_TABLES.repo_blobs.key),
  withoutRepo("uploads", "repo", OCI_TABLES.uploads.key),
  {
    kind: "reference-without-manifest",
    meaning: "what a manifest refers to is noted, and the manifest is gone",
    find: "select m.repo, m.digest, m.target from manifest_references as m where not exists (select 1 from manifests as x where x.repo = m.repo and x.digest = m.digest)",
    show: ["repo", "digest", "target"],
    repair: removeFaulty("manifest_references", ["repo", "digest", "target"]),
  },
  {
    kind: "manifest-without-blob",
    meaning: "a manifest refers to a blob that its repo does not hold: push the image again",
    find: "select m.repo, m.digest, m.target from manifest_references as m where m.kind = 'blob' and not exists (select 1 from repo_blobs as x where x.repo = m.repo and x.digest = m.target)",
    show: ["repo", "digest", "target"],
  },
  {
    kind: "index-without-manifest",
    meaning: "a tag leads to an index whose manifest its repo does not hold: push the image again",
    find: `${REACHED} ${ABSENT} and exists (select 1 from reached as t where t.repo = m.repo and t.digest = m.digest) and not ${IS_SPARSE}`,
    show: ["repo", "digest", "target"],
  },
  {
    kind: "sparse-index",
    notice: true,
    meaning:
      "an index refers to a manifest that its repo does not hold, which its repo's policy allows, or no tag leads to the index",
    find: `${REACHED} ${ABSENT} and (${IS_SPARSE} or not exists (select 1 from reached as t where t.repo = m.repo and t.digest = m.digest))`,
    show: ["repo", "digest", "target"],
  },
];

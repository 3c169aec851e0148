import { removeFaulty, repairBy, type RowCheck, withoutParent } from "@moorage/kernel/core/row-check";
import { writeWords } from "./artifacts/words.ts";

const ARTIFACT_SUMS = `with sums (uid, version_count, size_bytes, really_versions, really_bytes) as (
  select a.uid, a.version_count, a.size_bytes, (select count(*) from artifact_versions as v where v.parent = a.uid),
    coalesce((select sum(f.size) from artifact_files as f where f.artifact = a.uid), 0) from artifacts as a
)`;

/** The checks of libraries. */
export const LIBRARY_CHECKS: readonly RowCheck[] = [
  withoutParent("artifacts"),
  {
    kind: "artifact-version-without-artifact",
    meaning: "a version belongs to a library that is gone",
    find: "select v.uid from artifact_versions as v where not exists (select 1 from artifacts as a where a.uid = v.parent)",
    show: ["uid"],
    repair: removeFaulty("artifact_versions", ["uid"]),
  },
  {
    kind: "artifact-file-without-version",
    meaning: "a file belongs to a library or a version that is gone",
    find: `select f.artifact, f.name from artifact_files as f where not exists (select 1 from artifacts as a where a.uid = f.artifact)
      or (f.version <> '' and not exists (select 1 from artifact_versions as v where v.uid = f.version))`,
    show: ["artifact", "name"],
    repair: removeFaulty("artifact_files", ["artifact", "name"]),
  },
  {
    kind: "artifact-file-without-blob",
    meaning:
      "the content of a library's file is gone: restore a backup, or remove the version and publish one with another number",
    find: "select f.artifact, f.name from artifact_files as f where not exists (select 1 from blobs as b where b.digest = f.digest)",
    show: ["artifact", "name"],
  },
  {
    kind: "artifact-sums-wrong",
    meaning: "a library counts other versions or bytes than it has",
    find: `${ARTIFACT_SUMS} select s.uid, s.version_count, s.size_bytes, s.really_versions, s.really_bytes from sums as s
      where s.version_count <> s.really_versions or s.size_bytes <> s.really_bytes`,
    show: ["uid", "version_count", "really_versions", "size_bytes", "really_bytes"],
    repair: repairBy("update artifacts set version_count = ?, size_bytes = ?, revision = revision + 1 where uid = ?", [
      "really_versions",
      "really_bytes",
      "uid",
    ]),
  },
  {
    kind: "artifact-words-stale",
    meaning: "a search would find a library that is gone",
    find: "select distinct w.artifact from artifact_words as w where not exists (select 1 from artifacts as a where a.uid = w.artifact)",
    show: ["artifact"],
    repair: removeFaulty("artifact_words", ["artifact"]),
  },
  {
    kind: "artifact-not-searchable",
    meaning: "a search would not find a library",
    find: "select a.uid from artifacts as a where not exists (select 1 from artifact_words as w where w.artifact = a.uid)",
    show: ["uid"],
    async repair(tx, { uid }) {
      await writeWords(tx, String(uid));
    },
  },
  {
    kind: "removed-version-without-group",
    meaning: "a version was removed from a group that is gone",
    find: "select r.parent, r.ecosystem, r.name, r.version from removed_versions as r where not exists (select 1 from groups as g where g.uid = r.parent)",
    show: ["parent", "name", "version"],
    repair: removeFaulty("removed_versions", ["parent", "ecosystem", "name", "version"]),
  },
  {
    kind: "upstream-without-group",
    meaning: "an upstream belongs to a group that is gone",
    find: "select u.uid from upstreams as u where not exists (select 1 from groups as g where g.uid = u.parent)",
    show: ["uid"],
    repair: removeFaulty("upstreams", ["uid"]),
  },
  {
    kind: "upstream-document-without-upstream",
    meaning: "what an upstream that is gone has said is kept: a job removes it within about an hour",
    find: "select d.upstream, d.name from upstream_documents as d where not exists (select 1 from upstreams as u where u.uid = d.upstream)",
    show: ["upstream", "name"],
    repair: removeFaulty("upstream_documents", ["upstream", "name"]),
    notice: true,
  },
  {
    kind: "artifact-policy-without-group",
    meaning: "a policy of libraries belongs to a group that is gone",
    find: "select p.uid from artifact_policies as p where not exists (select 1 from groups as g where g.uid = p.parent)",
    show: ["uid"],
    repair: removeFaulty("artifact_policies", ["uid"]),
  },
  {
    kind: "artifact-block-without-group",
    meaning: "a version was blocked in a group that is gone",
    find: "select b.uid from artifact_blocks as b where not exists (select 1 from groups as g where g.uid = b.parent)",
    show: ["uid"],
    repair: removeFaulty("artifact_blocks", ["uid"]),
  },
];

import { useQueries, useQuery } from "@tanstack/react-query";
import { getArchitectures, getSize, getTag, listTags } from "../../api/gen/registry.ts";
import { listFindings } from "../../api/gen/vulnerabilities.ts";
import { query } from "../../api/queries.ts";
import { readRegistry } from "../../api/registry.ts";
import { bytes } from "../../lib/bytes.ts";
import { Badge } from "../../ui/badge.tsx";
import { countSeverities, isSignature } from "./tag-facts.ts";
import type { TagRow } from "./queries.ts";

const MAX_FINDINGS = 200;
const MAX_ARCHITECTURES = 4;
// What a digest holds does not change; findings of it do, but seldom.
const FRESH_MS = 60_000;
const LOOKS = { Critical: "critical", High: "danger", Medium: "warning" } as const;

/** How many findings the image has, by severity. Read when the row is seen. */
export function Findings({ repo, digest }: { repo: string; digest: string }) {
  const { data, isError } = useQuery({
    ...query(listFindings, { repo, digest, pageSize: MAX_FINDINGS }),
    staleTime: FRESH_MS,
  });
  if (isError) return <span>not readable</span>;
  if (data === undefined) return <span>…</span>;
  if (data.findings.length === 0) return <span>none known</span>;
  const more = data.nextPageToken === "" ? "" : "+";
  return (
    <a href={`/image?name=${encodeURIComponent(`${repo}@${digest}`)}`}>
      {countSeverities(data.findings).map(([word, number]) => (
        <Badge key={word} look={LOOKS[word as keyof typeof LOOKS] ?? "plain"}>
          {word} {number}
          {more}
        </Badge>
      ))}
    </a>
  );
}

/** How many bytes a pull moves, by architecture. */
export function Sizes({ repoUid, digest }: { repoUid: string; digest: string }) {
  const { data, isError } = useQuery({ ...query(getArchitectures, { repoUid, digest }), staleTime: FRESH_MS });
  const all = data?.architectures ?? [];
  const seen = all.slice(0, MAX_ARCHITECTURES);
  const sizes = useQueries({
    queries: seen.map((architecture) => ({
      ...query(getSize, { repoUid, digest, architecture }),
      staleTime: FRESH_MS,
    })),
  });
  if (isError) return <span>not stored</span>;
  if (data === undefined) return <span>…</span>;
  const parts = sizes.map((size, at) => `${seen[at]} ${size.data === undefined ? "…" : bytes(size.data.size)}`);
  const rest = all.length > seen.length ? `, ${all.length - seen.length} more` : "";
  return <span title={all.join(", ")}>{parts.length === 0 ? "no platform" : parts.join(", ") + rest}</span>;
}

/** Whether a signature is attached to the image: as a referrer, or under a tag as cosign names it. */
export function Signed({ repo, repoUid, digest }: { repo: string; repoUid: string; digest: string }) {
  const referrers = useQuery({
    queryKey: ["referrers", repo, digest],
    queryFn: async ({ signal }) => {
      const { text } = await readRegistry(repo, `referrers/${digest}`, { signal });
      return (JSON.parse(text) as { manifests?: { artifactType?: string }[] }).manifests ?? [];
    },
    staleTime: FRESH_MS,
  });
  const tagged = useQuery({
    ...query(listTags, { uidp: { childrenOf: repoUid }, name: `${digest.replace(":", "-")}.sig`, pageSize: 1 }),
    staleTime: FRESH_MS,
  });
  if (referrers.data === undefined && referrers.isPending) return <span>…</span>;
  const isSigned = (referrers.data ?? []).some(isSignature) || (tagged.data?.tags.length ?? 0) > 0;
  return isSigned ? <Badge look="success">signed</Badge> : <span>no</span>;
}

/** Whether the tag is at the end of its life. */
export function Life({ tag }: { tag: TagRow }) {
  const { data } = useQuery({ ...query(getTag, { uid: tag.uid }), enabled: tag.deprecated === undefined });
  const isOver = tag.deprecated ?? data?.deprecated;
  return isOver === true ? <Badge look="warning">deprecated</Badge> : <span>{isOver === undefined ? "…" : ""}</span>;
}

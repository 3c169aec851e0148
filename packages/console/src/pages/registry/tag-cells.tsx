import { useQueries, useQuery } from "@tanstack/react-query";
import { PenLine, ScanSearch } from "lucide-react";
import {
  type EolTag,
  getArchitectures,
  getSize,
  getTag,
  listEolTags,
  listTagMoves,
  listTags,
} from "../../api/gen/registry.ts";
import { listFindings } from "../../api/gen/vulnerabilities.ts";
import { call } from "../../api/call.ts";
import { collection, query } from "../../api/queries.ts";
import { readRegistry } from "../../api/registry.ts";
import { bytes } from "../../lib/bytes.ts";
import { countSeverities } from "../../lib/severities.ts";
import { Badge } from "../../ui/badge.tsx";
import { Chips, PlatformChip } from "../../ui/chips.tsx";
import { SeverityStrip } from "../../ui/severity-strip.tsx";
import { knowledgeWords } from "../security/knowledge.tsx";
import { Mover } from "./mover.tsx";
import { isSignature } from "./tag-facts.ts";
import styles from "./tag-cells.module.css";
import type { TagRow } from "./queries.ts";

const MAX_FINDINGS = 200;
const MAX_ARCHITECTURES = 4;
// What a digest holds does not change; findings of it do, but seldom.
const FRESH_MS = 60_000;

/** How many findings the image has, by severity. Read when the row is seen. `isLettered`: no head says what is what. */
export function Findings({ repo, digest, isLettered }: { repo: string; digest: string; isLettered?: boolean }) {
  const { data, isError } = useQuery({
    ...query(listFindings, { repo, digest, pageSize: MAX_FINDINGS }),
    staleTime: FRESH_MS,
  });
  if (isError) return <span>not readable</span>;
  if (data === undefined) return <span className={styles.findings}>…</span>;
  const unknown = data.unknownImages.map(({ platform, reason }) =>
    platform === "" ? reason : `${platform}: ${reason}`,
  );
  const { notCompared } = data;
  const isRead = data.state === "KNOWLEDGE_STATE_READ";
  if (data.findings.length === 0 && unknown.length === 0 && notCompared === 0 && !isRead)
    return <span className={styles.none}>not an image</span>;
  return (
    <a
      className={styles.findings}
      href={`/image?name=${encodeURIComponent(`${repo}@${digest}`)}&part=findings`}
      title={unknown.join("; ")}
    >
      {(data.findings.length > 0 || (unknown.length === 0 && notCompared === 0)) && (
        <SeverityStrip
          counts={countSeverities(data.findings)}
          isMore={data.nextPageToken !== ""}
          isLettered={isLettered}
        />
      )}
      {unknown.length > 0 && (
        <Badge look="outline">
          <ScanSearch size={12} aria-hidden />
          {knowledgeWords(data.state)}
        </Badge>
      )}
      {notCompared > 0 && <Badge look="outline">{notCompared} not compared</Badge>}
    </a>
  );
}

/** The architectures that the image is built for. */
export function Platforms({ repoUid, digest }: { repoUid: string; digest: string }) {
  const { data, isError } = useQuery({ ...query(getArchitectures, { repoUid, digest }), staleTime: FRESH_MS });
  if (isError) return <span>not stored</span>;
  if (data === undefined) return <span className={styles.platforms}>…</span>;
  const all = data.architectures;
  const rest = all.length - MAX_ARCHITECTURES;
  if (all.length === 0) return <span className={styles.none}>none</span>;
  return (
    <span className={styles.platforms}>
      <Chips title={all.join(", ")}>
        {all.slice(0, MAX_ARCHITECTURES).map((each) => (
          <PlatformChip key={each}>{each}</PlatformChip>
        ))}
        {rest > 0 && <span>+{rest}</span>}
      </Chips>
    </span>
  );
}

/** How many bytes a pull moves: of the largest architecture; each under the pointer. */
export function Size({ repoUid, digest }: { repoUid: string; digest: string }) {
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
  const known = sizes.flatMap(({ data: size }) => (size === undefined ? [] : [Number(size.size)]));
  if (all.length === 0) return <span className={styles.none}>none</span>;
  if (known.length < seen.length) return <span>…</span>;
  return (
    <span className={styles.size} title={parts.join(", ")}>
      {bytes(Math.max(...known))}
    </span>
  );
}

/**
 * Whether a signature is attached to the image: as a referrer, or under a tag as cosign names it. That says nothing of
 * who made it.
 */
export function AttachedSignature({ repo, repoUid, digest }: { repo: string; repoUid: string; digest: string }) {
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
  return isSigned ? (
    <a
      href={`/image?name=${encodeURIComponent(`${repo}@${digest}`)}&part=signatures`}
      title="A signature is attached. Whose it is, and whether it is valid, is shown on the page of the version."
    >
      <Badge look="outline">
        <PenLine size={12} aria-hidden />
        Signature
      </Badge>
    </a>
  ) : null;
}

/** Whether the tag is deprecated, or feeds say that its product is past its end of life. */
export function Life({ tag }: { tag: TagRow }) {
  const { data } = useQuery({ ...query(getTag, { uid: tag.uid }), enabled: tag.deprecated === undefined });
  const ended = useQuery({ ...query(listEolTags, { uidp: { ids: [tag.uid] }, pageSize: 1 }), staleTime: FRESH_MS });
  const isOver = tag.deprecated ?? data?.deprecated;
  const [product] = ended.data?.eolTags ?? [];
  if (isOver === undefined || ended.isPending) return <span>…</span>;
  return (
    <>
      {isOver && <Badge look="warning">Deprecated</Badge>}
      {product !== undefined && <Ended tag={product} />}
    </>
  );
}

function Ended({ tag: { product, version, status, release } }: { tag: EolTag }) {
  const look = status === "EOL_TAG_STATUS_IN_GRACE" ? "warning" : "danger";
  const date = release?.eolDate ? ` ${release.eolDate}` : "";
  return (
    <span title={`${product} ${version}`}>
      <Badge look={look}>Ended{date}</Badge>
    </span>
  );
}

/** Who moved the tag to what it points to now, and why. */
export function LastMove({ repoUid, tag }: { repoUid: string; tag: TagRow }) {
  const { data, isError } = useQuery({
    queryKey: [collection(listTags), "last move", repoUid, tag.name, tag.digest],
    queryFn: async ({ signal }) =>
      (await call(listTagMoves, { repoUid, tag: tag.name, pageSize: 1 }, { signal })).moves[0] ?? null,
    staleTime: FRESH_MS,
  });
  if (isError) return <span>not readable</span>;
  if (data === undefined) return <span>…</span>;
  if (data === null) return <span>not known</span>;
  return (
    <span title={data.reason}>
      <Mover actor={data.actor} reason={data.reason} />
    </span>
  );
}

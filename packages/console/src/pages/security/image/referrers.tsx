import { queryOptions, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type Attachment, getAttachments, listTags } from "../../../api/gen/registry.ts";
import { query } from "../../../api/queries.ts";
import { readRegistry } from "../../../api/registry.ts";
import { bytes, counted } from "../../../lib/bytes.ts";
import { shortDigest } from "../../../lib/digest.ts";
import { Empty } from "../../../ui/empty.tsx";
import { ErrorNote } from "../../../ui/error-note.tsx";
import { Note } from "../../../ui/note.tsx";
import { Section } from "../../../ui/page.tsx";
import { Time } from "../../../ui/time.tsx";
import type { Place } from "./data.ts";
import styles from "./image.module.css";
import { jsonOf, numberOf, objectsOf, textOf } from "./json.ts";
import type { Chosen } from "./platforms.ts";

const KINDS: readonly (readonly [type: RegExp, words: string])[] = [
  [/sigstore\.bundle|cosign.*sig|notary.*signature/, "Signature"],
  [/in-toto|dsse|attestation/, "Attestation"],
  [/cyclonedx|spdx/, "Bill of materials"],
  [/openvex|csaf|vex/, "VEX statements"],
  [/helm/, "Helm chart"],
];

/** What a media type stands for. */
function artifactWords(type: string): string {
  return KINDS.find(([pattern]) => pattern.test(type))?.[1] ?? "Artifact";
}

/** What is attached to an image: signatures, attestations, documents. */
export function Referrers({ chosen: { place, digest } }: { chosen: Chosen }) {
  return (
    <>
      <List title={digest === place.digest ? "Of this image" : "Of the index"} place={place} digest={place.digest} />
      {digest !== place.digest && <List title="Of the image of the platform" place={place} digest={digest} />}
      <Documents place={place} digest={digest} />
    </>
  );
}

function referrersQuery(name: string, digest: string) {
  return queryOptions({
    queryKey: ["referrers", name, digest],
    queryFn: async ({ signal }) => {
      const { text } = await readRegistry(name, `referrers/${encodeURIComponent(digest)}`, { signal });
      return objectsOf(jsonOf(text)["manifests"]);
    },
    retry: false,
  });
}

function List({ title, place, digest }: { title: string; place: Place; digest: string }) {
  const referrers = useQuery(referrersQuery(place.name, digest));
  // Older clients attach by the name of a tag.
  const signature = `${digest.replace(":", "-")}.sig`;
  const tags = useQuery(query(listTags, { uidp: { childrenOf: place.repoUid }, name: signature }));
  const rows = [
    ...(referrers.data ?? []).map((each) => ({
      type: textOf(each["artifactType"]) || textOf(each["mediaType"]),
      digest: textOf(each["digest"]),
      size: numberOf(each["size"]),
    })),
    ...(tags.data?.tags ?? []).map((tag) => ({ type: "cosign signature", digest: tag.digest, size: 0 })),
  ];
  return (
    <Section title={title}>
      <ErrorNote error={referrers.error ?? tags.error} />
      {referrers.isSuccess && rows.length === 0 && (
        <Empty title="Nothing is attached" command={`cosign sign ${window.location.host}/${place.name}@${digest}`}>
          Signatures, attestations, and other documents can be attached with a client:
        </Empty>
      )}
      {rows.length > 0 && (
        <table className={styles.plain} aria-label={title}>
          <thead>
            <tr>
              <th scope="col">What</th>
              <th scope="col">Media type</th>
              <th scope="col">Manifest</th>
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={row.digest + row.type}>
                <td>{artifactWords(row.type)}</td>
                <td>{row.type}</td>
                <td>
                  <Link
                    to="/image"
                    search={{ name: `${place.name}@${row.digest}`, part: "manifest" }}
                    title={row.digest}
                  >
                    {shortDigest(row.digest)}
                  </Link>
                  {row.size > 0 && `, ${bytes(row.size)}`}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </Section>
  );
}

function Documents({ place, digest }: { place: Place; digest: string }) {
  const { data, error } = useQuery(query(getAttachments, { repoUid: place.repoUid, digest }));
  if (error !== null) return <ErrorNote error={error} />;
  if (data === undefined || data.attachments.length === 0) return null;
  return (
    <Section title="Documents that were read">
      {data.unsignedDocuments > 0 && (
        <Note>
          {counted(data.unsignedDocuments, "document does not", "documents do not")} count, because a policy asks for a
          signature.
        </Note>
      )}
      <ul>
        {data.attachments.map((each) => (
          <li key={each.manifest + each.source}>
            {each.kind || each.mediaType || "A document"} of <code>{shortDigest(each.manifest)}</code>, attached{" "}
            <Time value={each.attachTime} />: {stateWords(each)}
          </li>
        ))}
      </ul>
    </Section>
  );
}

function stateWords({ state, reason, packages, statements, counts, signatureReason }: Attachment): string {
  if (state === "STATE_WAITING") return "waits to be read";
  if (state === "STATE_REJECTED") return `does not count: ${reason}`;
  const parts = [packages > 0 && counted(packages, "package"), statements > 0 && counted(statements, "statement")];
  const found = `${parts.filter(Boolean).join(", ") || "read"}${counts ? "; its packages count for the image" : ""}`;
  // Of what counts, only a policy in preview asks for more.
  return signatureReason === "" ? found : `${found}; enforced, a policy would not let it count: ${signatureReason}`;
}

import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { ListImageSignaturesResponse, Signature } from "../../../../api/gen/registry.ts";
import { counted } from "../../../../lib/bytes.ts";
import { IdentityName } from "../../../../lib/identity-name.tsx";
import { Badge } from "../../../../ui/badge.tsx";
import { Button } from "../../../../ui/button.tsx";
import type { Column } from "../../../../ui/column.ts";
import { DataTable } from "../../../../ui/data-table.tsx";
import { Empty } from "../../../../ui/empty.tsx";
import { ErrorNote } from "../../../../ui/error-note.tsx";
import { Note } from "../../../../ui/note.tsx";
import { Section } from "../../../../ui/page.tsx";
import { Time } from "../../../../ui/time.tsx";
import { mainVerdict, purposeWords, stateWord, trustedBy } from "../../signatures/signature-words.ts";
import type { Place } from "../data.ts";
import { SignatureDialog } from "./signature-dialog.tsx";
import { signaturesQuery } from "./queries.ts";

export interface SignatureListProps {
  title: string;
  place: Place;
  digest: string;
  asOf: string | undefined;
}

const idOf = ({ manifest, number }: Signature): string => `${manifest} ${number}`;

/** The signatures of one manifest, the last attached first. */
export function SignatureList({ title, place, digest, asOf }: SignatureListProps) {
  const { data, error, isPending } = useQuery({ ...signaturesQuery(place.repoUid, digest, asOf), retry: false });
  const [shown, setShown] = useState<Signature>();
  return (
    <Section title={title} count={data === undefined ? undefined : data.signatures.length}>
      {isPending && <p role="status">Reading the signatures…</p>}
      <ErrorNote error={error} />
      {data !== undefined && <NotKnown answer={data} />}
      {data !== undefined && data.signatures.length === 0 && !data.pending && (
        <Empty
          title={asOf === undefined ? "Nothing is signed" : "Nothing was signed then"}
          command={`cosign sign ${window.location.host}/${place.name}@${digest}`}
        >
          No signature and no signed attestation is attached.
        </Empty>
      )}
      {data !== undefined && data.signatures.length > 0 && (
        <DataTable
          label={title}
          rowWord="signature"
          rows={data.signatures}
          columns={[
            ...COLUMNS,
            {
              id: "actions",
              header: "Details",
              align: "end",
              cell: (signature) => (
                <Button isSmall onClick={() => setShown(signature)}>
                  Details
                </Button>
              ),
            },
          ]}
          idOf={idOf}
        />
      )}
      {shown !== undefined && <SignatureDialog signature={shown} place={place} onClose={() => setShown(undefined)} />}
    </Section>
  );
}

/** What was not looked at: there may be more than is listed. */
function NotKnown({ answer: { pending, leftOut } }: { answer: ListImageSignaturesResponse }) {
  if (!pending && leftOut === 0) return null;
  return (
    <Note look="warning">
      {pending && <p>Attachments of this image are waiting to be checked. There may be more signatures.</p>}
      {leftOut > 0 && (
        <p>{counted(leftOut, "more attached manifest was", "more attached manifests were")} not looked at.</p>
      )}
    </Note>
  );
}

const COLUMNS: readonly Column<Signature>[] = [
  {
    id: "state",
    header: "State",
    cell: ({ state }) => {
      const [word, look] = stateWord(state);
      return <Badge look={look}>{word}</Badge>;
    },
  },
  { id: "signer", header: "Signed by", cell: signedBy },
  { id: "purpose", header: "What for", isMinor: true, cell: ({ predicateType }) => purposeWords(predicateType) },
  {
    id: "since",
    header: "Since",
    isMinor: true,
    cell: (signature) => <Time value={mainVerdict(signature)?.fromTime} none="not known" />,
  },
  {
    id: "attached",
    header: "Attached",
    isWide: true,
    cell: ({ attachTime, attachedBy }) => (
      <span>
        <Time value={attachTime} none="not known" /> by <IdentityName uid={attachedBy} none="not known" />
      </span>
    ),
  },
  { id: "why", header: "Why not", isWide: true, cell: ({ reason }) => reason },
];

/** The signers by whom it holds; otherwise who says to have made it, which nobody has verified. */
function signedBy(signature: Signature) {
  const signers = trustedBy(signature);
  if (signers.length > 0) return signers.join(", ");
  if (signature.identity !== "") return <span title="This is not verified">says: {signature.identity}</span>;
  return "no known signer";
}

import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { Signer } from "../../../../api/gen/registry.ts";
import { Empty } from "../../../../ui/empty.tsx";
import { ErrorNote } from "../../../../ui/error-note.tsx";
import { Note } from "../../../../ui/note.tsx";
import { Section } from "../../../../ui/page.tsx";
import { ShortTable } from "../../../../ui/short-table.tsx";
import { allSignersQuery } from "../queries.ts";
import { SIGNER_COLUMNS } from "../signer-columns.tsx";

/** The signers that name a trust root, as far as the person sees them. */
export function RootSigners({ uid }: { uid: string }) {
  const { data, error } = useQuery(allSignersQuery);
  const naming = (data ?? []).filter((signer) => names(signer, uid));
  return (
    <Section title="Signers that use it" count={data === undefined ? undefined : naming.length}>
      <ErrorNote error={error} />
      {data !== undefined && naming.length === 0 && (
        <Empty title="No signer that you can see uses it">
          A signer that is known by an identity names a trust root in its form.{" "}
          <Link to="/signatures/signers">Signers</Link> say who signs.
        </Empty>
      )}
      {naming.length > 0 && (
        <ShortTable label="Signers that use it" rows={naming} columns={SIGNER_COLUMNS} idOf={({ uid: each }) => each} />
      )}
    </Section>
  );
}

/** Which signers keep a trust root from being deleted, and what to do about it. */
export function KeptBySigners({ uid }: { uid: string }) {
  const { data, error } = useQuery(allSignersQuery);
  const naming = (data ?? []).filter((signer) => names(signer, uid));
  if (error !== null)
    return <Note look="warning">Whether signers name it could not be read. While one does, it is not deleted.</Note>;
  if (naming.length === 0) return null;
  return (
    <Note look="warning">
      It is not deleted while signers name it. Have them name another one first, or delete them:{" "}
      {naming.map((signer, at) => (
        <span key={signer.uid}>
          {at > 0 && ", "}
          <Link to="/signatures/signer" search={{ uid: signer.uid }}>
            {signer.name}
          </Link>
        </span>
      ))}
      .
    </Note>
  );
}

function names({ keyless }: Signer, uid: string): boolean {
  return keyless?.trustRoot === uid;
}

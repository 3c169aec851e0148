import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { call } from "../../../api/call.ts";
import { deleteSignatureExemption, type SignatureExemption } from "../../../api/gen/registry.ts";
import { shortDigest } from "../../../lib/digest.ts";
import { IdentityName } from "../../../lib/identity-name.tsx";
import { useRights } from "../../../lib/rights.ts";
import { isPast } from "../../../lib/time.ts";
import { Badge } from "../../../ui/badge.tsx";
import { Button } from "../../../ui/button.tsx";
import type { Column } from "../../../ui/column.ts";
import { Confirm } from "../../../ui/confirm.tsx";
import { DataTable } from "../../../ui/data-table.tsx";
import { Empty } from "../../../ui/empty.tsx";
import { ErrorNote } from "../../../ui/error-note.tsx";
import { Section } from "../../../ui/page.tsx";
import { Time } from "../../../ui/time.tsx";
import { FormDialog } from "../../access/parts/form-dialog.tsx";
import { useChanged } from "../../access/parts/use-refresh.ts";
import { repoPathQuery } from "../repo-path.ts";
import { newExemptionForm } from "./exemption-form.ts";
import { exemptionsList } from "./queries.ts";

/** What passes a policy for some time, with who said so and why. */
export function Exemptions({ policy }: { policy: string }) {
  const list = useInfiniteQuery(exemptionsList(policy));
  const { data, error, hasNextPage, isFetchingNextPage, fetchNextPage } = list;
  const rows = data?.pages.flatMap(({ signatureExemptions }) => signatureExemptions) ?? [];
  const rights = useRights(policy);
  const [isNew, setNew] = useState(false);
  const changed = useChanged();
  const mayNotEnd = rights("CAP_SIGNATURE_EXEMPTIONS_DELETE");
  return (
    <Section
      title="Exemptions"
      count={data === undefined ? undefined : `${rows.length}${hasNextPage ? "+" : ""}`}
      actions={
        <Button disabledReason={rights("CAP_SIGNATURE_EXEMPTIONS_CREATE")} onClick={() => setNew(true)}>
          New exemption
        </Button>
      }
    >
      <ErrorNote error={error} />
      {data !== undefined && rows.length === 0 && (
        <Empty title="No exemptions">One image or tag can pass for at most 90 days, with a reason.</Empty>
      )}
      {rows.length > 0 && (
        <DataTable
          label="Exemptions"
          rowWord="exemption"
          rows={rows}
          columns={[
            ...COLUMNS,
            {
              id: "actions",
              header: "Actions",
              align: "end",
              cell: (row) => <End exemption={row} mayNot={mayNotEnd} />,
            },
          ]}
          idOf={({ uid }) => uid}
          onMore={hasNextPage ? () => void fetchNextPage() : undefined}
          isLoadingMore={isFetchingNextPage}
          isTall
        />
      )}
      {isNew && (
        <FormDialog form={newExemptionForm(policy)} onClose={() => setNew(false)} onDone={() => void changed()} />
      )}
    </Section>
  );
}

const COLUMNS: readonly Column<SignatureExemption>[] = [
  { id: "image", header: "What", cell: (exemption) => <Image exemption={exemption} /> },
  { id: "reason", header: "Why", cell: ({ reason }) => reason },
  {
    id: "creator",
    header: "By",
    isMinor: true,
    cell: ({ creator }) => <IdentityName uid={creator} none="not known" />,
  },
  {
    id: "ends",
    header: "Ends",
    align: "end",
    cell: ({ expireTime }) =>
      expireTime !== undefined && isPast(expireTime) ? <Badge>Ended</Badge> : <Time value={expireTime} />,
  },
];

function Image({ exemption: { repo, digest, tag } }: { exemption: SignatureExemption }) {
  const { data: path } = useQuery(repoPathQuery(repo));
  if (path === undefined) return <span>…</span>;
  const name = tag === "" ? `${path}@${digest}` : `${path}:${tag}`;
  return (
    <a href={`/image?name=${encodeURIComponent(name)}&part=signatures`}>
      {tag === "" ? `${path}@${shortDigest(digest)}` : name}
    </a>
  );
}

function End({ exemption, mayNot }: { exemption: SignatureExemption; mayNot: string | undefined }) {
  const [isAsking, setAsking] = useState(false);
  const changed = useChanged();
  return (
    <>
      <Button isSmall disabledReason={mayNot} onClick={() => setAsking(true)}>
        End
      </Button>
      <Confirm
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        title="End the exemption?"
        description="The policy applies to the image from the next pull on."
        action="End"
        onConfirm={async () => {
          await call(deleteSignatureExemption, { uid: exemption.uid });
          await changed();
        }}
      />
    </>
  );
}

import { useQuery, useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { getSigner, type SignaturePolicy, type Signer } from "../../../api/gen/registry.ts";
import { query } from "../../../api/queries.ts";
import { useRights } from "../../../lib/rights.ts";
import { parentUid } from "../../../lib/uid.ts";
import { Badge } from "../../../ui/badge.tsx";
import { Button } from "../../../ui/button.tsx";
import type { Column } from "../../../ui/column.ts";
import { Empty } from "../../../ui/empty.tsx";
import { ErrorNote } from "../../../ui/error-note.tsx";
import { Card, Facts, Page, Section } from "../../../ui/page.tsx";
import { ShortTable } from "../../../ui/short-table.tsx";
import { Time } from "../../../ui/time.tsx";
import { FormDialog } from "../../access/parts/form-dialog.tsx";
import { Place } from "../../access/parts/place.tsx";
import { RowActions } from "../../access/parts/row-actions.tsx";
import { useChanged } from "../../access/parts/use-refresh.ts";
import { RootLink } from "./roots/root-link.tsx";
import { policiesOf } from "./key-words.ts";
import { policyColumns } from "./policies-page.tsx";
import { allPoliciesQuery } from "./queries.ts";
import { newKeyForm } from "./signer-forms.tsx";
import { SignerKeys } from "./signer-keys.tsx";
import { SIGNERS } from "./signers-page.tsx";

const route = getRouteApi("/shell/signatures/signer");

/** `/signatures/signer`: one signer, its keys, and what asks for its signatures. */
export function SignerPage() {
  const { uid = "" } = route.useSearch();
  const navigate = useNavigate();
  const changed = useChanged();
  const [isNew, setNew] = useState(false);
  const { data: signer } = useSuspenseQuery(query(getSigner, { uid }));
  const policies = useQuery(allPoliciesQuery);
  const mayNot = useRights(parentUid(uid))("CAP_SIGNERS_UPDATE");
  const asking = policiesOf(uid, policies.data ?? []);
  const remove = {
    ...SIGNERS.remove,
    send: async (gone: string) => {
      await SIGNERS.remove.send(gone);
      await navigate({ to: "/signatures/signers" });
    },
  };
  return (
    <Page
      title={signer.name}
      lede={signer.description || undefined}
      actions={<RowActions spec={{ ...SIGNERS, remove }} row={signer} />}
    >
      <Card>
        <Facts
          facts={[
            ["Signs the images of", <Place key="group" uid={parentUid(uid)} />],
            ["Created", <Time key="created" value={signer.createTime} />],
            ["Updated", <Time key="updated" value={signer.updateTime} />],
          ]}
        />
      </Card>
      {signer.keyless === undefined && signer.x509 === undefined && (
        <Section
          title="Keys"
          count={signer.keys.length}
          actions={
            <Button disabledReason={mayNot} onClick={() => setNew(true)}>
              Add a key
            </Button>
          }
        >
          <SignerKeys signer={signer} asking={asking} mayNot={mayNot} />
        </Section>
      )}
      {signer.keyless !== undefined && <Identity keyless={signer.keyless} />}
      {signer.x509 !== undefined && <Certificates x509={signer.x509} />}
      <Section title="Policies that require it" count={policies.data === undefined ? undefined : asking.length}>
        <ErrorNote error={policies.error} />
        {policies.data !== undefined && asking.length === 0 && (
          <Empty title="No policy that you can see requires it">
            Its signatures are verified anyway. <Link to="/signatures/policies">Policies</Link> say which images need
            them.
          </Empty>
        )}
        {asking.length > 0 && (
          <ShortTable
            label="Policies that require it"
            rows={asking}
            columns={POLICIES}
            idOf={({ uid: each }) => each}
          />
        )}
      </Section>
      {isNew && <FormDialog form={newKeyForm(signer)} onClose={() => setNew(false)} onDone={() => void changed()} />}
    </Page>
  );
}

const POLICIES: readonly Column<SignaturePolicy>[] = policyColumns().filter(({ id }) => id !== "rules");

function Certificates({ x509 }: { x509: NonNullable<Signer["x509"]> }) {
  const { roots, scheme, tsaRoots, identities, revokedFingerprints } = x509;
  const isAuthority = scheme === "SIGNER_SCHEME_SIGNING_AUTHORITY";
  const lines = (key: string, texts: readonly string[]) =>
    texts.length > 0 && (
      <span key={key}>
        {texts.map((text) => (
          <code key={text}>{text} </code>
        ))}
      </span>
    );
  return (
    <Section title="Certificates">
      <Card>
        <Facts
          facts={[
            [
              "Scheme",
              isAuthority ? "A signing authority, which says when it signed" : "The signer's own certificates",
            ],
            ["Identities", lines("identities", identities)],
            ["Authorities", roots.length],
            ["Time-stamping authorities", tsaRoots.length],
            ["Revoked", lines("revoked", revokedFingerprints)],
          ]}
        />
        <p>
          <Badge look="outline">Notation</Badge> These authorities' certificates verify what it signs.
        </p>
      </Card>
    </Section>
  );
}

function Identity({ keyless }: { keyless: NonNullable<Signer["keyless"]> }) {
  const { issuer, subject, subjectPattern, extensions } = keyless;
  return (
    <Section title="Identity">
      <Card>
        <Facts
          facts={[
            ["Issuer", <code key="issuer">{issuer}</code>],
            ["Subject", subject && <code key="subject">{subject}</code>],
            ["Subject matches", subjectPattern && <code key="pattern">{subjectPattern}</code>],
            ["Trust root", <RootLink key="root" uid={keyless.trustRoot} />],
            ...Object.entries(extensions).map(([name, value]) => [name, <code key={name}>{value}</code>] as const),
          ]}
        />
        <p>
          <Badge look="outline">Certificates</Badge> The authorities and logs of this trust root verify what it signs.
        </p>
      </Card>
    </Section>
  );
}

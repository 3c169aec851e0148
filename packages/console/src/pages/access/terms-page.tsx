import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { call } from "../../api/call.ts";
import { acceptTerms } from "../../api/gen/iam.ts";
import { useRights } from "../../lib/rights.ts";
import { Button } from "../../ui/button.tsx";
import { Empty } from "../../ui/empty.tsx";
import { Page } from "../../ui/page.tsx";
import { useChanged } from "./parts/use-refresh.ts";
import { FormDialog } from "./parts/form-dialog.tsx";
import { GroupChoice } from "./parts/group-choice.tsx";
import { listOf } from "./parts/lines.ts";
import styles from "./parts/parts.module.css";
import type { FormSpec } from "./parts/resource.ts";
import { TermsTable } from "./terms-table.tsx";

const route = getRouteApi("/shell/access/terms");

/** `/access/terms`: which documents a group has accepted. */
export function TermsPage() {
  const { group = "", document = "", order } = route.useSearch();
  const rights = useRights(group);
  const changed = useChanged();
  const [isAccepting, setIsAccepting] = useState(false);
  const reason = group === "" ? "Choose a group first" : rights("CAP_TERMS_ACCEPT");
  return (
    <Page
      title="Terms"
      actions={
        <Button look="primary" disabledReason={reason} onClick={() => setIsAccepting(true)}>
          Accept a document
        </Button>
      }
    >
      <p>
        Documents that this installation asks you to accept, such as a privacy notice. Accepting one for a group covers
        everything below it. A call that needs one names it.
      </p>
      <div className={styles.choice}>
        <GroupChoice group={group} none="Choose…" />
      </div>
      {group === "" ? (
        <Empty title="Choose a group">
          Documents are accepted for one group at a time; those accepted above it count too.
        </Empty>
      ) : (
        <TermsTable group={group} order={order} />
      )}
      {isAccepting && (
        <FormDialog
          form={acceptForm(group, document)}
          onClose={() => setIsAccepting(false)}
          onDone={() => void changed()}
        />
      )}
    </Page>
  );
}

function acceptForm(group: string, document: string): FormSpec {
  return {
    title: "Accept a document",
    action: "Accept",
    description: "For this group and everything below it, in your name. This cannot be undone.",
    fields: [
      {
        name: "documentIds",
        label: "Documents",
        kind: "lines",
        help: "Their ids, one per line, as named by the call that needs them",
        initial: document.split(",").join("\n"),
      },
    ],
    send: ({ documentIds = "" }) => call(acceptTerms, { group, documentIds: listOf(documentIds) }),
  };
}

import { useSuspenseQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Identity } from "../../api/gen/iam.ts";
import { makeRecoveryLink, type RecoveryLink } from "../../api/recovery.ts";
import { useRights } from "../../lib/rights.ts";
import { Button } from "../../ui/button.tsx";
import { Section } from "../../ui/page.tsx";
import { say } from "../../ui/toasts.tsx";
import { providersQuery } from "./parts/data.ts";
import { FormDialog } from "./parts/form-dialog.tsx";
import type { FormSpec } from "./parts/resource.ts";
import { ShownOnce } from "./parts/shown-once.tsx";
import { mailQuery } from "./queries.ts";

/** For a person with an account of this server: a link by which they make a new passkey or password. */
export function Recovery({ identity }: { identity: Identity }) {
  const { uid, identityProvider } = identity;
  const providers = useSuspenseQuery(providersQuery).data;
  const { sendsMail } = useSuspenseQuery(mailQuery).data;
  const provider = providers.find((each) => each.uid === identityProvider);
  const rights = useRights(provider?.uid ?? "");
  const [isMaking, setIsMaking] = useState(false);
  const [made, setMade] = useState<RecoveryLink>();
  if (provider?.accounts === undefined) return null;
  return (
    <Section
      title="Account"
      actions={
        <Button disabledReason={rights("CAP_IAM_IDENTITY_UPDATE")} onClick={() => setIsMaking(true)}>
          Recovery link
        </Button>
      }
    >
      <p>Signs in here with a passkey or a password. A recovery link lets someone who lost theirs set up new ones.</p>
      {isMaking && (
        <FormDialog
          form={formFor(uid, sendsMail ? identity.emailUnverified : "")}
          onClose={() => setIsMaking(false)}
          onDone={(answer) => {
            const link = answer as RecoveryLink;
            if (link.url === undefined) say(`The recovery link is on its way to ${link.mailTo ?? ""}`);
            else setMade(link);
          }}
        />
      )}
      {made?.url !== undefined && (
        <ShownOnce title="The recovery link" texts={[["Link", made.url]]} onClose={() => setMade(undefined)}>
          <p>Send it to {identity.name} alone: whoever opens it gets the account. It works once, for a day.</p>
        </ShownOnce>
      )}
    </Section>
  );
}

const MAILED = "mail";

/** `address`: where it can be mailed to; empty for nowhere. */
function formFor(uid: string, address: string): FormSpec<RecoveryLink> {
  return {
    title: "Create a recovery link?",
    action: "Create the link",
    description:
      "Using it removes the existing passkeys and password, and ends all sessions and personal tokens. Nothing changes until then.",
    fields: [
      {
        name: "way",
        label: "How they get the link",
        kind: "options",
        options: [
          ["", "I send it myself"],
          [MAILED, `The server emails it to ${address}`],
        ],
        help: "The address is not verified: they typed it themselves.",
        when: () => address !== "",
      },
    ],
    send: ({ way }) => makeRecoveryLink(uid, way === MAILED ? address : ""),
  };
}

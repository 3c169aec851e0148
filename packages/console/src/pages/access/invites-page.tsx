import { useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import type { GroupInvite } from "../../api/gen/iam.ts";
import { Button } from "../../ui/button.tsx";
import { say } from "../../ui/toasts.tsx";
import { ACCEPT, invitesWith } from "./invites.tsx";
import { useChanged } from "./parts/use-refresh.ts";
import { FormDialog } from "./parts/form-dialog.tsx";
import { ResourcePage } from "./parts/resource-page.tsx";
import { useRows } from "./parts/rows.ts";
import { ShownOnce } from "./parts/shown-once.tsx";
import { invitesList, mailQuery } from "./queries.ts";

const route = getRouteApi("/shell/access/invites");

/** `/access/invites` */
export function InvitesPage() {
  const search = route.useSearch();
  const changed = useChanged();
  const [made, setMade] = useState<GroupInvite>();
  const [isAccepting, setIsAccepting] = useState(false);
  const { sendsMail } = useSuspenseQuery(mailQuery).data;
  const list = useRows(invitesList(search), ({ groupInvites }) => groupInvites);
  return (
    <ResourcePage
      spec={invitesWith((invite) => {
        setMade(invite);
        if (invite.mailTo !== "") say(`The invite is on its way to ${invite.mailTo}`);
      }, sendsMail)}
      list={list}
      group={search.group ?? ""}
      order={search.order}
      actions={<Button onClick={() => setIsAccepting(true)}>Accept an invite</Button>}
    >
      {made !== undefined && made.mailTo === "" && (
        <ShownOnce
          title="The invite's link"
          texts={[
            ["Link", `${window.location.origin}/invite#${made.code}`],
            ["Code", made.code],
          ]}
          onClose={() => setMade(undefined)}
        >
          <p>
            Send the link to whom you invite. They open it, sign in or make an account, and are members
            {made.email === "" ? "." : `; only ${made.email} can, confirmed by an identity provider.`}
          </p>
        </ShownOnce>
      )}
      {isAccepting && (
        <FormDialog
          form={ACCEPT}
          onClose={() => setIsAccepting(false)}
          onDone={() => {
            void changed();
            say("You now have the invite's role");
          }}
        />
      )}
    </ResourcePage>
  );
}

import { useQueryClient, useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate, useRouteContext } from "@tanstack/react-router";
import { Plus } from "lucide-react";
import { useState } from "react";
import { listPersonalTokens, type PersonalToken } from "../../../api/gen/iam.ts";
import { collection } from "../../../api/queries.ts";
import { Button } from "../../../ui/button.tsx";
import { Empty } from "../../../ui/empty.tsx";
import { Note } from "../../../ui/note.tsx";
import { Section } from "../../../ui/page.tsx";
import { groupsQuery } from "../../access/parts/data.ts";
import { FormDialog } from "../../access/parts/form-dialog.tsx";
import { useRows } from "../../access/parts/rows.ts";
import { pathsOf } from "../../access/parts/tree.ts";
import { registryHostQuery } from "../../access/registry-host.ts";
import { ProfileFrame } from "../profile-frame.tsx";
import { newToken } from "./new-token.ts";
import { Ready } from "./ready.tsx";
import { builtInRolesQuery, tokensQuery } from "./queries.ts";
import { TokenTable } from "./token-table.tsx";

const route = getRouteApi("/shell/profile/tokens");

/** `/profile/tokens`: the person's own tokens, and a new one with the lines for the programs that take it. */
export function OwnTokensPage() {
  const { order } = route.useSearch();
  const { session } = useRouteContext({ from: "/shell" });
  const navigate = useNavigate();
  const client = useQueryClient();
  const [isMaking, setIsMaking] = useState(false);
  const [made, setMade] = useState<PersonalToken>();
  const { roles } = useSuspenseQuery(builtInRolesQuery).data;
  const { data: registry } = useSuspenseQuery(registryHostQuery);
  const paths = pathsOf(useSuspenseQuery(groupsQuery).data);
  const list = useRows(tokensQuery({ identity: session.identity }, order), ({ personalTokens }) => personalTokens);
  const keep = (token: unknown): void => {
    setMade(token as PersonalToken);
    void client.invalidateQueries({ queryKey: [collection(listPersonalTokens)] });
  };
  return (
    <ProfileFrame tabTitle="Personal tokens">
      <Section
        title="Personal tokens"
        actions={
          <Button look="primary" icon={<Plus size={16} aria-hidden />} onClick={() => setIsMaking(true)}>
            New token
          </Button>
        }
      >
        <p>
          Passwords for docker, npm, pip and the command line on your own machines. They can do at most what you can, by
          the roles that you hold yourself: what groups of your identity provider give you ends with your sign-in.{" "}
          <a href="/cli">Get the moorage command</a>
        </p>
        {made !== undefined && (
          <Ready
            key={made.uid}
            made={made}
            registry={registry}
            group={groupOf(made, paths)}
            onClose={() => setMade(undefined)}
          />
        )}
        {list.rows.length === 0 && made === undefined ? (
          <Empty title="No tokens yet" command="moorage personal-tokens create --name laptop --may push">
            Create one here, or with the command:
          </Empty>
        ) : (
          <TokenTable
            {...list}
            order={order ?? "createTime desc"}
            onOrder={(next) => void navigate({ to: "/profile/tokens", search: { order: next } })}
          />
        )}
        <Note>
          <strong>For a CI job, use a machine instead.</strong> It signs in with the token that its CI system gives it,
          so there is no secret to store. <Link to="/access/machines">Add a machine</Link>
        </Note>
        {isMaking && <FormDialog form={newToken(roles)} onClose={() => setIsMaking(false)} onDone={keep} />}
      </Section>
    </ProfileFrame>
  );
}

/** The path of the token's group; of one for all groups, that of the first organization that the person sees. */
function groupOf({ groups: [uid] }: PersonalToken, paths: ReadonlyMap<string, string>): string {
  const own = uid === undefined ? undefined : paths.get(uid);
  return own ?? [...paths.values()].find((path) => !path.includes("/") && path !== "public") ?? "acme";
}

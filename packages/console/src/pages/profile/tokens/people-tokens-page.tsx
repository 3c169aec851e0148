import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { Empty } from "../../../ui/empty.tsx";
import { Page } from "../../../ui/page.tsx";
import { GroupChoice } from "../../access/parts/group-choice.tsx";
import { useRows } from "../../access/parts/rows.ts";
import { tokensQuery } from "./queries.ts";
import { TokenTable } from "./token-table.tsx";

const route = getRouteApi("/shell/access/personal-tokens");

/** `/access/personal-tokens`: the tokens of the people of an organization, to be looked at and revoked. */
export function PeopleTokensPage() {
  const { group, order } = route.useSearch();
  const navigate = useNavigate();
  const list = useRows(
    tokensQuery(group === undefined ? {} : { group }, order),
    ({ personalTokens }) => personalTokens,
  );
  return (
    <Page title="Personal tokens">
      <p>
        Tokens that people created for their own programs. A token can do at most what its owner can, and ends when the
        owner's account does.
      </p>
      <GroupChoice group={group ?? ""} none="All groups" />
      {list.rows.length === 0 ? (
        <Empty title="No personal tokens" command="moorage personal-tokens list --all">
          Nobody whose tokens you can see has created one. People create them in their profile.
        </Empty>
      ) : (
        <TokenTable
          {...list}
          ofPeople
          order={order ?? "createTime desc"}
          onOrder={(next) =>
            void navigate({ to: "/access/personal-tokens", search: { ...(group && { group }), order: next } })
          }
        />
      )}
    </Page>
  );
}

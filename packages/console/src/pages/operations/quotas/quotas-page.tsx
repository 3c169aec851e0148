import { useQueryClient, useSuspenseInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { Plus } from "lucide-react";
import { useState } from "react";
import { listQuotas } from "../../../api/gen/registry.ts";
import { collection } from "../../../api/queries.ts";
import { Button } from "../../../ui/button.tsx";
import { Empty } from "../../../ui/empty.tsx";
import { Note } from "../../../ui/note.tsx";
import { Page } from "../../../ui/page.tsx";
import { Toolbar } from "../../../ui/toolbar.tsx";
import { usePaths } from "../../access/parts/data.ts";
import { FormDialog } from "../../access/parts/form-dialog.tsx";
import { GroupChip } from "../../access/parts/group-chip.tsx";
import { newQuotaForm } from "./quota-form.ts";
import { QuotaTable } from "./quota-table.tsx";
import { whyWords } from "./quota-words.ts";
import { quotasQuery } from "./queries.ts";
import { useQuotaReason } from "./use-above.ts";

const route = getRouteApi("/shell/operations/quotas");

/** `/operations/quotas`: how much groups may hold, and what of it they do. */
export function QuotasPage() {
  const { group = "" } = route.useSearch();
  const navigate = route.useNavigate();
  const client = useQueryClient();
  const paths = usePaths();
  const reason = useQuotaReason(group);
  const [isNew, setNew] = useState(false);
  const { data, hasNextPage, isFetchingNextPage, fetchNextPage } = useSuspenseInfiniteQuery(quotasQuery(group));
  const quotas = data.pages.flatMap((page) => page.quotas);
  const total = data.pages[0]?.totalCount;
  const troubled = quotas.filter((quota) => whyWords(quota) !== "");
  return (
    <Page
      title="Quotas"
      lede="How much a group can store, including everything below it. Quotas of the groups above apply as well."
      actions={
        <Button
          look="primary"
          icon={<Plus size={16} aria-hidden />}
          disabledReason={reason}
          onClick={() => setNew(true)}
        >
          Set a quota
        </Button>
      }
    >
      <Toolbar>
        <GroupChip
          group={group}
          onGroup={(uid) => void navigate({ search: { ...(uid !== undefined && { group: uid }) } })}
        />
      </Toolbar>
      {reason !== undefined && <p>{reason}</p>}
      {troubled.length > 0 && (
        <Note look="warning">
          <ul>
            {troubled.map((quota) => (
              <li key={quota.uid}>
                <strong>{paths.get(quota.uid) ?? "A group"}.</strong> {whyWords(quota)}
              </li>
            ))}
          </ul>
        </Note>
      )}
      {quotas.length === 0 && !hasNextPage ? (
        <Empty
          title={group === "" ? "No group is limited" : "Neither this group nor one below it is limited"}
          command="moorage quotas create acme/team --bytes 10737418240 --repos 100"
        >
          Without a quota, a group can use all available space.
        </Empty>
      ) : (
        <QuotaTable
          quotas={quotas}
          paths={paths}
          total={total === undefined ? undefined : Number(total)}
          onMore={hasNextPage ? () => void fetchNextPage() : undefined}
          isLoadingMore={isFetchingNextPage}
        />
      )}
      {isNew && (
        <FormDialog
          form={newQuotaForm(group)}
          onClose={() => setNew(false)}
          onDone={() => void client.invalidateQueries({ queryKey: [collection(listQuotas)] })}
        />
      )}
    </Page>
  );
}

import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { call } from "../../../api/call.ts";
import { deleteQuota, listQuotas, type Quota } from "../../../api/gen/registry.ts";
import { collection } from "../../../api/queries.ts";
import { Confirm } from "../../../ui/confirm.tsx";
import { Menu } from "../../../ui/menu.tsx";
import { say } from "../../../ui/toasts.tsx";
import { FormDialog } from "../../access/parts/form-dialog.tsx";
import { editQuotaForm } from "./quota-form.ts";
import { useQuotaReason } from "./use-above.ts";

/** Changes or ends the quota of a group, for those who may from above. */
export function QuotaActions({ quota, path }: { quota: Quota; path: string }) {
  const [open, setOpen] = useState<"edit" | "delete">();
  const reason = useQuotaReason(quota.uid);
  const client = useQueryClient();
  const changed = (): Promise<void> => client.invalidateQueries({ queryKey: [collection(listQuotas)] });
  return (
    <>
      <Menu
        label={`Actions for ${path}`}
        items={[
          { label: "Edit", onSelect: () => setOpen("edit"), disabledReason: reason },
          { label: "Delete", isDanger: true, onSelect: () => setOpen("delete"), disabledReason: reason },
        ]}
      />
      {open === "edit" && (
        <FormDialog
          form={editQuotaForm(quota, path)}
          onClose={() => setOpen(undefined)}
          onDone={() => void changed()}
        />
      )}
      <Confirm
        isOpen={open === "delete"}
        onClose={() => setOpen(undefined)}
        title={`Delete the quota of ${path}?`}
        description="After that, only the quotas of the groups above limit it."
        action="Delete"
        onConfirm={async () => {
          await call(deleteQuota, { uid: quota.uid });
          await changed();
          say(`The quota of ${path} is deleted`);
        }}
      />
    </>
  );
}

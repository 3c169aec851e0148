import { useState } from "react";
import { type Account, makePasskey, noPasskeys, type Passkey, postAccount } from "../../../api/account.ts";
import { Button } from "../../../ui/button.tsx";
import { Confirm } from "../../../ui/confirm.tsx";
import { DataTable } from "../../../ui/data-table.tsx";
import type { Column } from "../../../ui/column.ts";
import { Empty } from "../../../ui/empty.tsx";
import { ErrorNote } from "../../../ui/error-note.tsx";
import { Row, Section, Stack } from "../../../ui/page.tsx";
import { Time } from "../../../ui/time.tsx";
import { say } from "../../../ui/toasts.tsx";
import { NameDialog } from "./name-dialog.tsx";
import { SignInAgain } from "./sign-in-again.tsx";

export interface AccountPartProps {
  account: Account;
  onChanged: () => void;
}

/** The passkeys of an account: each is named and removed, and others are added. */
export function Passkeys({ account, onChanged }: AccountPartProps) {
  const [state, setState] = useState<{ isBusy: boolean; error?: unknown }>({ isBusy: false });
  const [naming, setNaming] = useState<Passkey | "new">();
  const [removing, setRemoving] = useState<Passkey>();
  const add = async (label: string): Promise<void> => {
    setState({ isBusy: true });
    try {
      await makePasskey({}, label);
      say("The passkey was added");
      onChanged();
      setState({ isBusy: false });
    } catch (error) {
      setState({ isBusy: false, error });
    }
  };
  const columns: readonly Column<Passkey>[] = [
    { id: "label", header: "Passkey", cell: ({ label }) => label },
    { id: "host", header: "For", isMinor: true, cell: ({ host }) => host },
    { id: "created", header: "Created", isMinor: true, cell: ({ createTime }) => <Time value={createTime} /> },
    {
      id: "used",
      header: "Last used",
      cell: ({ usedTime }) => (usedTime === null ? "never" : <Time value={usedTime} />),
    },
    {
      id: "actions",
      header: "Actions",
      align: "end",
      cell: (key) => (
        <Row>
          <Button aria-label={`Rename ${key.label}`} onClick={() => setNaming(key)}>
            Rename…
          </Button>
          <Button aria-label={`Remove ${key.label}`} onClick={() => setRemoving(key)}>
            Remove…
          </Button>
        </Row>
      ),
    },
  ];
  return (
    <Section
      title="Passkeys"
      actions={
        <Button look="primary" isBusy={state.isBusy} disabledReason={noPasskeys()} onClick={() => setNaming("new")}>
          Add a passkey
        </Button>
      }
    >
      <Stack>
        <ErrorNote error={state.error} />
        <SignInAgain error={state.error} />
        {account.passkeys.length === 0 ? (
          <Empty title="No passkeys">
            A passkey uses your fingerprint, face, or PIN on a device instead of a password.
          </Empty>
        ) : (
          <DataTable label="Passkeys" rows={account.passkeys} columns={columns} idOf={({ keyId }) => keyId} />
        )}
      </Stack>
      {naming !== undefined && (
        <NameDialog
          title={naming === "new" ? "Add a passkey" : `Rename ${naming.label}`}
          initial={naming === "new" ? "" : naming.label}
          onClose={() => setNaming(undefined)}
          onName={async (label) => {
            if (naming === "new") return void add(label);
            await postAccount("/session/account/passkey/rename", { keyId: naming.keyId, label });
            onChanged();
          }}
        />
      )}
      <Confirm
        isOpen={removing !== undefined}
        onClose={() => setRemoving(undefined)}
        title={`Remove ${removing?.label ?? ""}`}
        description="It can no longer be used to sign in. You are signed out of all other browsers and programs."
        action="Remove"
        onConfirm={async () => {
          if (removing === undefined) return;
          await postAccount("/session/account/passkey/remove", { keyId: removing.keyId });
          onChanged();
        }}
      />
    </Section>
  );
}

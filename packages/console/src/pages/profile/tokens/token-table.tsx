import { useQueryClient, useSuspenseQuery } from "@tanstack/react-query";
import { useState } from "react";
import { call } from "../../../api/call.ts";
import { deletePersonalToken, listPersonalTokens, type PersonalToken } from "../../../api/gen/iam.ts";
import { collection } from "../../../api/queries.ts";
import { Badge } from "../../../ui/badge.tsx";
import { Button } from "../../../ui/button.tsx";
import { Confirm } from "../../../ui/confirm.tsx";
import { DataTable, type DataTableProps } from "../../../ui/data-table.tsx";
import type { Column } from "../../../ui/column.ts";
import { Time } from "../../../ui/time.tsx";
import { say } from "../../../ui/toasts.tsx";
import { IdentityName } from "../../../lib/identity-name.tsx";
import { usePaths } from "../../access/parts/data.ts";
import { permissionWords } from "./permissions.ts";
import { builtInRolesQuery } from "./queries.ts";
import styles from "./tokens.module.css";

export interface TokenTableProps extends Omit<DataTableProps<PersonalToken>, "label" | "columns" | "idOf"> {
  /** Whether the tokens are of several people, who are shown then. */
  ofPeople?: boolean;
}

/** A table of tokens, each of which can be revoked. */
export function TokenTable({ ofPeople = false, ...rest }: TokenTableProps) {
  const { roles } = useSuspenseQuery(builtInRolesQuery).data;
  const client = useQueryClient();
  const [ending, setEnding] = useState<PersonalToken>();
  const end = async ({ uid, name }: PersonalToken): Promise<void> => {
    await call(deletePersonalToken, { uid });
    say(`${name}: ${hasEnded(ending) ? "removed" : "revoked"}`);
    await client.invalidateQueries({ queryKey: [collection(listPersonalTokens)] });
  };
  const columns: readonly Column<PersonalToken>[] = [
    { id: "name", header: "Token", orderBy: "name", cell: (token) => <Name token={token} /> },
    ...(ofPeople
      ? [{ id: "person", header: "Person", cell: ({ identity }: PersonalToken) => <IdentityName uid={identity} /> }]
      : []),
    {
      id: "may",
      header: "Permissions",
      isMinor: true,
      cell: ({ capabilities }) => permissionWords(capabilities, roles),
    },
    { id: "where", header: "Where", isMinor: true, cell: ({ groups }) => <Where groups={groups} /> },
    {
      id: "used",
      header: "Last used",
      orderBy: "lastUsedTime",
      isMinor: true,
      cell: ({ lastUsedTime }) => <Time value={lastUsedTime} />,
    },
    {
      id: "end",
      header: "Expires",
      orderBy: "expirationTime",
      isMinor: ofPeople,
      cell: (token) => <Expiry token={token} />,
    },
    {
      id: "action",
      header: "Action",
      align: "end",
      cell: (token) => {
        const verb = hasEnded(token) ? "Remove" : "Revoke";
        return (
          <Button aria-label={`${verb} ${token.name}`} onClick={() => setEnding(token)}>
            {verb}
          </Button>
        );
      },
    },
  ];
  return (
    <>
      <DataTable {...rest} label="Personal tokens" rowWord="token" columns={columns} idOf={({ uid }) => uid} />
      <Confirm
        isOpen={ending !== undefined}
        onClose={() => setEnding(undefined)}
        title={`${hasEnded(ending) ? "Remove" : "Revoke"} the token “${ending?.name ?? ""}”?`}
        description={
          hasEnded(ending)
            ? "It has expired; this only removes it from the list."
            : "Anything that uses it is denied from its next request on. This cannot be undone."
        }
        action={hasEnded(ending) ? "Remove" : "Revoke"}
        onConfirm={() => (ending === undefined ? Promise.resolve() : end(ending))}
      />
    </>
  );
}

function Name({ token: { name, hint } }: { token: PersonalToken }) {
  return (
    <span className={styles.name}>
      <span>{name}</span>
      <code>mrg_pat_…{hint}</code>
    </span>
  );
}

function Where({ groups }: { groups: readonly string[] }) {
  const paths = usePaths();
  if (groups.length === 0) return <>All groups</>;
  return <>{groups.map((uid) => paths.get(uid) ?? "a group that you cannot see").join(", ")}</>;
}

const SOON_MS = 7 * 86_400_000;

function Expiry({ token }: { token: PersonalToken }) {
  const { expirationTime } = token;
  const leftMs = Date.parse(expirationTime ?? "") - Date.now();
  if (hasEnded(token))
    return (
      <Badge look="danger">
        Expired <Time value={expirationTime} />
      </Badge>
    );
  if (leftMs < SOON_MS)
    return (
      <Badge look="warning">
        <Time value={expirationTime} />
      </Badge>
    );
  return <Time value={expirationTime} />;
}

function hasEnded(token: PersonalToken | undefined): boolean {
  return token?.expirationTime !== undefined && Date.parse(token.expirationTime) <= Date.now();
}

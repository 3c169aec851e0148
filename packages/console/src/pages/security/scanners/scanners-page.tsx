import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { call } from "../../../api/call.ts";
import { checkScanner, deleteScanner, type Scanner } from "../../../api/gen/vulnerabilities.ts";
import { parentUid } from "../../../lib/uid.ts";
import { Badge } from "../../../ui/badge.tsx";
import { ErrorNote } from "../../../ui/error-note.tsx";
import { Time } from "../../../ui/time.tsx";
import { say } from "../../../ui/toasts.tsx";
import { Place } from "../../access/parts/place.tsx";
import { ResourcePage } from "../../access/parts/resource-page.tsx";
import type { ResourceSpec } from "../../access/parts/resource.ts";
import { useRows } from "../../access/parts/rows.ts";
import { useChanged } from "../../access/parts/use-refresh.ts";
import { scannersList } from "./queries.ts";
import { editScannerForm, newScannerForm } from "./scanner-forms.ts";

const route = getRouteApi("/shell/scanners");

const SCANNERS: ResourceSpec<Scanner> = {
  title: "Scanners",
  noun: "scanner",
  intro: "External programs that scan images. Their findings appear next to those from this server's feeds.",
  columns: [
    { id: "name", header: "Name", orderBy: "name", cell: ({ name }) => <strong>{name}</strong> },
    { id: "url", header: "Adapter", isMinor: true, cell: ({ url }) => url },
    {
      id: "program",
      header: "Program",
      cell: ({ adapter }) =>
        adapter === undefined ? "not known yet" : `${adapter.name} ${adapter.version}, ${adapter.vendor}`,
    },
    { id: "group", header: "Group", isMinor: true, cell: ({ uid }) => <Place uid={parentUid(uid)} /> },
    {
      id: "state",
      header: "State",
      cell: ({ disabled, onRequestOnly }) => (
        <Badge look={disabled ? "plain" : "success"}>{disabled ? "Off" : onRequestOnly ? "On request" : "On"}</Badge>
      ),
    },
    {
      id: "checked",
      header: "Last check",
      isMinor: true,
      cell: ({ checkTime }) => <Time value={checkTime} />,
    },
  ],
  uidOf: ({ uid }) => uid,
  nameOf: ({ name }) => name,
  create: { capability: "CAP_IAM_GROUPS_UPDATE", form: newScannerForm },
  edit: { capability: "CAP_IAM_GROUPS_UPDATE", form: editScannerForm },
  remove: {
    capability: "CAP_IAM_GROUPS_UPDATE",
    send: (uid) => call(deleteScanner, { uid }),
    effect: "It no longer scans anything. Its reports are removed within about an hour.",
  },
  empty: {
    title: "No scanners",
    text: "Without a scanner, findings come from this server's feeds. A scanner adds what another program finds.",
    command: "moorage scanners create acme/trivy --scanner-url https://trivy-adapter.example.com",
  },
};

/** `/scanners` */
export function ScannersPage() {
  const search = route.useSearch();
  const list = useRows(scannersList(search), ({ scanners }) => scanners);
  const [error, setError] = useState<unknown>();
  const changed = useChanged();
  const check = async ({ uid, name }: Scanner): Promise<void> => {
    setError(undefined);
    try {
      await call(checkScanner, { uid });
      say(`${name} answers`);
    } catch (reason) {
      setError(reason);
    }
    await changed();
  };
  const spec: ResourceSpec<Scanner> = {
    ...SCANNERS,
    actions: (scanner) => [{ label: "Check now", onSelect: () => void check(scanner) }],
  };
  return (
    <ResourcePage spec={spec} list={list} group={search.group ?? ""} order={search.order}>
      <ErrorNote error={error} />
    </ResourcePage>
  );
}

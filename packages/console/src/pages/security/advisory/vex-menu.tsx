import { useState } from "react";
import { call } from "../../../api/call.ts";
import { getOsvRecords, getVexDocument } from "../../../api/gen/vulnerabilities.ts";
import { saveFile } from "../../../lib/save-file.ts";
import { Button } from "../../../ui/button.tsx";
import { ErrorNote } from "../../../ui/error-note.tsx";
import { Menu } from "../../../ui/menu.tsx";

/** Downloads what a group and those below it have decided, for other tools. */
export function VexMenu({ group }: { group: string }) {
  const [error, setError] = useState<unknown>();
  const save = (name: string, read: () => Promise<unknown>) => (): void => {
    setError(undefined);
    read().then((document) => saveFile(name, "application/json", [JSON.stringify(document, null, 2)]), setError);
  };
  const disabledReason = group === "" ? "You cannot see any group" : undefined;
  return (
    <>
      <Menu
        label="Export VEX"
        trigger={<Button>Export VEX</Button>}
        items={[
          {
            label: "OpenVEX",
            disabledReason,
            onSelect: save("openvex.json", async () => (await call(getVexDocument, { group })).document),
          },
          {
            label: "CSAF",
            disabledReason,
            onSelect: save("csaf.json", async () => {
              return (await call(getVexDocument, { group, format: "VEX_FORMAT_CSAF" })).document;
            }),
          },
          {
            label: "OSV",
            disabledReason,
            onSelect: save("osv.json", async () => (await call(getOsvRecords, { group })).osvRecords),
          },
        ]}
      />
      <ErrorNote error={error} />
    </>
  );
}

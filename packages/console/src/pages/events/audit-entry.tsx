import type { AuditEntry } from "../../api/gen/iam.ts";
import { IdentityName } from "../../lib/identity-name.tsx";
import { Json } from "../../ui/json.tsx";
import { shortUid } from "../../lib/uid.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import type { Column } from "../../ui/column.ts";
import { Dialog } from "../../ui/dialog.tsx";
import { Facts, Stack } from "../../ui/page.tsx";
import { LinkButton } from "../../ui/link-button.tsx";
import { Time } from "../../ui/time.tsx";

/** The columns of the audit log; an entry is opened by its method. */
export function auditColumns(onOpen: (entry: AuditEntry) => void): readonly Column<AuditEntry>[] {
  const what = (entry: AuditEntry) => (
    <LinkButton onClick={() => onOpen(entry)}>{methodWords(entry.method)}</LinkButton>
  );
  const who = (entry: AuditEntry) => <Who entry={entry} />;
  return [
    { id: "time", header: "When", orderBy: "createTime", cell: ({ createTime }) => <Time value={createTime} /> },
    { id: "method", header: "What", cell: what, below: what },
    { id: "decision", header: "Decision", cell: (entry) => <Decision entry={entry} /> },
    { id: "who", header: "Who", cell: who, below: who },
    {
      id: "resource",
      header: "To what",
      isMinor: true,
      cell: ({ resource, details }) => (
        <span title={resource}>{details["name"] || details["tag"] || shortUid(resource)}</span>
      ),
    },
    { id: "from", header: "From", isMinor: true, cell: ({ remoteAddress }) => remoteAddress },
  ];
}

/** All of an entry, as text. */
export function AuditDialog({ entry, onClose }: { entry: AuditEntry | undefined; onClose: () => void }) {
  if (entry === undefined) return null;
  return (
    <Dialog isOpen onClose={onClose} title={entry.method} actions={<Button onClick={onClose}>Close</Button>}>
      <Stack>
        <Facts
          facts={[
            ["When", <Time key="when" value={entry.createTime} />],
            ["Decision", <Decision key="decision" entry={entry} />],
            ["Why not", entry.reason],
            ["Who", <Who key="who" entry={entry} />],
            ["Resource", entry.resource && <code key="resource">{entry.resource}</code>],
            ["From", entry.remoteAddress],
            ["Client", entry.userAgent],
            ["Token", entry.tokenId && <code key="token">{entry.tokenId}</code>],
            ["Request", entry.requestId && <code key="request">{entry.requestId}</code>],
          ]}
        />
        <Json value={{ details: entry.details, act: entry.act }} label="details of the entry" />
      </Stack>
    </Dialog>
  );
}

function Decision({ entry: { decision, code } }: { entry: AuditEntry }) {
  if (decision === "AUDIT_DECISION_ALLOWED") return <Badge look="success">allowed</Badge>;
  return (
    <Badge look="danger" title={`code ${code}`}>
      denied
    </Badge>
  );
}

function Who({ entry: { identity, act } }: { entry: AuditEntry }) {
  return <IdentityName uid={identity} none={act["actor"] === "system" ? "this server" : "unknown"} />;
}

/** `GroupsService.CreateGroup` of `moorage.iam.v2.GroupsService.CreateGroup`; other names stay. */
function methodWords(method: string): string {
  return /^[a-z.0-9]+\.([A-Z]\w*\.[A-Z]\w*)$/.exec(method)?.[1] ?? method;
}

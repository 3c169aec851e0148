import { useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import type { TrustRoot } from "../../../../api/gen/registry.ts";
import { durationWords } from "../../../../lib/durations.ts";
import { parentUid } from "../../../../lib/uid.ts";
import { Badge } from "../../../../ui/badge.tsx";
import type { Column } from "../../../../ui/column.ts";
import { Note } from "../../../../ui/note.tsx";
import { Card, Facts, Page, Section } from "../../../../ui/page.tsx";
import { ShortTable } from "../../../../ui/short-table.tsx";
import { Time } from "../../../../ui/time.tsx";
import { Place } from "../../../access/parts/place.tsx";
import { RowActions } from "../../../access/parts/row-actions.tsx";
import { pollMs, trustRootQuery } from "./queries.ts";
import { contentOf, partWord, type RootPart } from "./root-content.ts";
import { RootSigners } from "./root-signers.tsx";
import { RootBadge } from "./root-state.tsx";
import { rootState } from "./root-words.ts";
import { ROOTS } from "./roots-page.tsx";

const route = getRouteApi("/shell/signatures/trust-root");

/** `/signatures/trust-root`: whether identities are verified by it, what it names, and which signers name it. */
export function TrustRootPage() {
  const { uid = "" } = route.useSearch();
  const navigate = useNavigate();
  const { data: root } = useSuspenseQuery({
    ...trustRootQuery(uid),
    refetchInterval: ({ state: { data } }) => pollMs(data && [data]),
  });
  const { tuf } = root;
  const { detail } = rootState(root, Date.now());
  const remove = {
    ...ROOTS.remove,
    send: async (gone: string) => {
      await ROOTS.remove.send(gone);
      await navigate({ to: "/signatures/trust-roots" });
    },
  };
  return (
    <Page
      title={root.name}
      badges={<RootBadge root={root} />}
      actions={<RowActions spec={{ ...ROOTS, remove }} row={root} />}
    >
      {detail !== "" && <Note look="warning">{detail}</Note>}
      <Card>
        <Facts
          facts={[
            ["For the signers of", <Place key="group" uid={parentUid(uid)} />],
            ["From", tuf === undefined ? "Pasted: it does not renew itself" : <code key="url">{tuf.url}</code>],
            ["Refreshed", tuf && <Time key="refreshed" value={root.refreshTime} />],
            ["Every", tuf && durationWords(tuf.interval ?? "86400s")],
            ["Created", <Time key="created" value={root.createTime} />],
            ["Updated", <Time key="updated" value={root.updateTime} />],
          ]}
        />
      </Card>
      <Content root={root} />
      <RootSigners uid={uid} />
    </Page>
  );
}

/** The authorities and logs of a root that was pasted; those that a mirror has are not answered. */
function Content({ root: { trustedRoot, tuf } }: { root: TrustRoot }) {
  if (tuf !== undefined)
    return (
      <Section title="What it names">
        <Note>
          What the mirror's <code>trusted_root.json</code> names counts. It is not shown here: the server keeps it for
          verification alone.
        </Note>
      </Section>
    );
  const parts = contentOf(trustedRoot);
  if (parts === undefined)
    return (
      <Section title="What it names">
        <Note look="warning">What it names cannot be read by this page.</Note>
      </Section>
    );
  return (
    <Section title="What it names" count={parts.length}>
      <ShortTable
        label="What it names"
        rows={parts.map((part, at) => ({ ...part, id: String(at) }))}
        columns={PARTS}
        idOf={({ id }) => id}
      />
    </Section>
  );
}

const PARTS: readonly Column<RootPart & { id: string }>[] = [
  { id: "name", header: "Name", cell: ({ name }) => name },
  { id: "kind", header: "Kind", cell: ({ kind }) => kind },
  {
    id: "state",
    header: "State",
    cell: (part) => {
      const [word, look] = partWord(part, Date.now());
      return <Badge look={look}>{word}</Badge>;
    },
  },
  { id: "from", header: "From", isMinor: true, cell: ({ start }) => <Time value={start} none="not said" /> },
  { id: "until", header: "Until", isMinor: true, cell: ({ end }) => <Time value={end} none="no end stated" /> },
];

import { lazy, Suspense } from "react";
import { Panel, PanelBody } from "../../ui/panel.tsx";

const load = () => import("./needs-attention.tsx");
const NeedsAttention = lazy(async () => ({ default: (await load()).NeedsAttention }));

/** The card, which is loaded beside the page: what a browser loads first has a limit. */
export function AttentionCard({ group }: { group: string | undefined }) {
  return (
    <Suspense
      fallback={
        <Panel title="Needs attention">
          <PanelBody>…</PanelBody>
        </Panel>
      }
    >
      <NeedsAttention group={group} />
    </Suspense>
  );
}

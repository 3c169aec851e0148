import { lazy, Suspense } from "react";

const Body = lazy(() => import("./markdown-body.tsx").then(({ MarkdownBody }) => ({ default: MarkdownBody })));

/** A text in Markdown, rendered. What renders it is loaded when it is first needed. */
export function Markdown({ text }: { text: string }) {
  return (
    <Suspense fallback={<p>Rendering…</p>}>
      <Body text={text} />
    </Suspense>
  );
}

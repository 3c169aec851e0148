import type { ReactNode } from "react";
import ReactMarkdown, { type Components } from "react-markdown";
import styles from "./markdown.module.css";

/**
 * Markdown of others, rendered: HTML in it is left out, links lead to http and https alone, and images are links, so
 * that no request goes anywhere before somebody follows one.
 */
export function MarkdownBody({ text }: { text: string }) {
  return (
    <div className={styles.markdown}>
      <ReactMarkdown skipHtml components={COMPONENTS} urlTransform={safeUrl}>
        {text}
      </ReactMarkdown>
    </div>
  );
}

// The page has headings of the first two levels itself.
const COMPONENTS: Components = {
  h1: ({ children }) => <h3>{children}</h3>,
  h2: ({ children }) => <h4>{children}</h4>,
  h3: ({ children }) => <h5>{children}</h5>,
  h4: ({ children }) => <h6>{children}</h6>,
  h5: ({ children }) => <h6>{children}</h6>,
  a: ({ href, children }) => <Outside url={href}>{children}</Outside>,
  img: ({ src, alt }) => (
    <Outside url={typeof src === "string" ? src : undefined}>image{alt ? `: ${alt}` : ""}</Outside>
  ),
  // Long lines are scrolled, by keyboard too.
  pre: ({ children }) => <pre tabIndex={0}>{children}</pre>,
};

function Outside({ url, children }: { url: string | undefined; children: ReactNode }) {
  if (url === undefined || url === "") return <span>{children}</span>;
  return (
    <a href={url} target="_blank" rel="noreferrer noopener">
      {children}
    </a>
  );
}

/** The URL when it is absolute and of http or https; otherwise empty. */
function safeUrl(url: string): string {
  const parsed = URL.parse(url);
  return parsed !== null && /^https?:$/.test(parsed.protocol) ? parsed.href : "";
}

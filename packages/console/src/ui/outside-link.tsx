/** A link out of content of others: a link where it is an address of http or https, and text otherwise. */
export function OutsideLink({ href }: { href: string }) {
  if (!isWebAddress(href)) return <span>{href}</span>;
  return (
    <a href={href} target="_blank" rel="noreferrer noopener">
      {href}
    </a>
  );
}

/** Whether a browser goes to a page of http or https for it. */
function isWebAddress(href: string): boolean {
  try {
    return ["http:", "https:"].includes(new URL(href).protocol);
  } catch {
    return false;
  }
}

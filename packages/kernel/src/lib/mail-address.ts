const MAX_ADDRESS_CHARS = 254;
const MAX_LOCAL_CHARS = 64;
// As browsers read the field of an address. Source: HTML §4.10.5.1.5. Nothing in it separates addresses or headers.
const ADDRESS =
  /^[a-zA-Z0-9.!#$%&'*+/=?^_`{|}~-]+@[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*$/;

/** Whether the text is one address that mail can be sent to, such as `ada@example.com`; ASCII alone. */
export function isMailAddress(text: string): boolean {
  return text.length <= MAX_ADDRESS_CHARS && text.indexOf("@") <= MAX_LOCAL_CHARS && ADDRESS.test(text);
}

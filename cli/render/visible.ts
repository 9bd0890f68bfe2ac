/** Text from elsewhere may hold control characters, which would move the cursor, change colours or break a table. */
export const visible = (text: string): string => text.replace(/\p{Cc}/gu, (character) => `\\x${character.charCodeAt(0).toString(16).padStart(2, "0")}`);

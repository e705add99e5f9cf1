## Command bytes that the server does not know or that this user may not use.
# modes autocommit
# body
# cmd raw 00
# cmd raw 05
# cmd raw 06
# cmd raw 0B
# cmd raw 0D
# cmd raw 0F
# cmd raw 10
# cmd raw 14
# cmd raw 21
# cmd raw 2A
# cmd raw FF
# cmd raw 15 01000000 00 00 00 0000 00000000 00000000
SELECT 1
# conn dump
# cmd raw 12 04000000 0100 01000000 6E6F6E65
# conn dump2
# cmd raw 1E 0100 01000000 00000000 0400000000000000 00000000
# conn bare
# cmd raw 08
# conn bare2
# mask
# cmd process_info
# conn kill
# cmd raw 0C FFFFFF7F
